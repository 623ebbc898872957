# SPDX-License-Identifier: GPL-2.0
# Completion of perf's command line for fish. Options are those that perf itself lists.

# Whether that is the command of perf, "stat" or "bperf list".
function __perf_is
    set -l words (commandline -opc)
    set -l last (math 1 + (count $argv))
    test "$words[2..$last]" = "$argv"
end

# The list under the cursor, whose last element is completed by the words.
function __perf_list
    set -l before (commandline -ct | string match -r '^(?:.*[,{])?')
    for word in $argv
        echo $before$word
    end
end

function __perf_events
    __perf_list (perf list --raw-dump hw sw tool cache pmu tracepoint 2>/dev/null | string split -n ' ')
end

function __perf_pfm_events
    __perf_list (perf list --raw-dump pfm 2>/dev/null | string split -n ' ')
end

function __perf_metrics
    __perf_list (perf list --raw-dump metrics metricgroups 2>/dev/null | string split -n ' ')
end

function __perf_tasks
    __perf_list (__fish_complete_pids)
end

# What is counted or sampled: the words behind the options are a command line of their own.
function __perf_command
    set -l words (commandline -opc)
    set -l help (perf $words[2] -h 2>&1)
    set -l names (string match -rg '^    (?:-., |)--([a-z0-9-]+) <' -- $help)
    set -l letters (string match -rg '^    -(.), --[a-z0-9-]+ <' -- $help)
    set -l command $words[2]
    set -e words[1..2]
    if test "$command" = stat
        contains -- "$words[1]" report; and return
        contains -- "$words[1]" record; and set -e words[1]
    else if contains -- "$words[1]" report
        __fish_complete_path (commandline -ct)
        return
    end
    while set -q words[1]
        set -l word $words[1]
        switch $word
            case --
                set -e words[1]
                break
            case '--*'
                contains -- (string sub -s 3 -- $word) $names; and set -e words[1]
            case '-*'
                contains -- (string sub -s -1 -- $word) $letters; and set -e words[1]
            case '*'
                break
        end
        set -e words[1]
    end
    if set -q words[1]; or not string match -q -- '-*' (commandline -ct)
        complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
    end
end

# The options of one command, from its help: letter, name, value, text.
function __perf_options
    set -l name
    set -l command "$argv"
    for line in (perf $argv -h 2>&1)
        set -l parts (string match -r '^    (-., |)--([a-z0-9-]+)((?:\[=| )<[^>]*>\]?|) *(.*)$' -- $line)
        or begin
            # A long option has its text on the next line.
            test -n "$name"; and complete -c perf -n "__perf_is $command" -l $name -d (string trim -- $line)
            set name
            continue
        end
        set name
        set -l args -c perf -n "__perf_is $command" -l $parts[3]
        test -n "$parts[2]"; and set args $args -s (string sub -s 2 -l 1 -- $parts[2])
        if test -n "$parts[5]"
            set args $args -d $parts[5]
        else
            set name $parts[3]
        end
        if string match -q ' <*' -- $parts[4]
            switch $parts[3]
                case event
                    set args $args -x -a '(__perf_events)'
                case pfm-events
                    set args $args -x -a '(__perf_pfm_events)'
                case metrics
                    set args $args -x -a '(__perf_metrics)'
                case pid tid
                    set args $args -x -a '(__perf_tasks)'
                case pmu-filter cputype unit
                    set args $args -x -a '(ls /sys/bus/event_source/devices)'
                case sort
                    set args $args -x
                    contains -- "$command" profile "profile report" top; and set args $args -a '(__perf_list comm pid tid cpu cgroup prio dso sym ip page daddr srcline)'
                case call-graph
                    set args $args -x -a 'caller callee fp'
                case uid
                    set args $args -x -a '(__fish_complete_users)'
                case output prog flamegraph pprof diff metrics-file input bpf-attr-map
                    set args $args -r -F
                case '*'
                    set args $args -x
            end
        else if string match -q '\[=*' -- $parts[4]
            switch $parts[3]
                case call-graph
                    set args $args -f -a 'caller callee fp'
                case ip
                    set args $args -f -a 'symbol address page'
                case data
                    set args $args -f -a 'address page'
                case '*'
                    set args $args -f -a 'L1 L2 L3 L4'
            end
        end
        complete $args
    end
end

set -l commands (perf --list-cmds 2>/dev/null | string split -n ' ')
complete -c perf -f
complete -c perf -n __fish_is_first_token -a "$commands"
complete -c perf -n __fish_is_first_token -a (perf --list-opts 2>/dev/null | string collect)
complete -c perf -n "__perf_is help" -a "$commands"
complete -c perf -n "__perf_is list" -a 'hw sw cache tracepoint pmu sdt metric metricgroup tool pfm bpf'
complete -c perf -n "__perf_is stat" -a '(__perf_command)'
complete -c perf -n "__perf_is profile" -a '(__perf_command)'
complete -c perf -n "__perf_is stat; and test (count (commandline -opc)) = 2" -a 'record report'
complete -c perf -n "__perf_is profile; and test (count (commandline -opc)) = 2" -a report
__perf_options stat
__perf_options stat report
__perf_options profile
__perf_options profile report
__perf_options top
__perf_options list
__perf_options config
__perf_options help
complete -c perf -n "__perf_is config" -a '(perf config -l 2>/dev/null | string replace -r "=.*" "=")'
__perf_options script
for command in (perf bperf -h 2>&1 | string match -rg '^    ([a-z]+)  ')
    complete -c perf -n "__perf_is bperf; and test (count (commandline -opc)) = 2" -a $command
    __perf_options bperf $command
end
