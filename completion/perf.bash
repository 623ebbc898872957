# SPDX-License-Identifier: GPL-2.0
# Completion of perf's command line for bash. Options are those that perf itself lists.

# _perf_reply OPTION... : what compgen says, a line each, is the answer
_perf_reply() {
	mapfile -t COMPREPLY < <(compgen "$@")
}

# _perf_takes_value COMMAND... : names and letters of options that take a value, a line each
_perf_takes_value() {
	perf "$@" -h 2>&1 | sed -nE 's/^    (-(.), )?--([a-z0-9-]+) <.*/--\3\n-\2/p'
}

# _perf_list BASE CUR WORD... : complete the last element of a list whose others are BASE
_perf_list() {
	local base=$1 cur=$2
	shift 2
	_perf_reply -P "$base" -W "$*" -- "$cur"
	compopt -o nospace 2>/dev/null || :
}

# _perf_value OPTION CUR : complete the value of an option
_perf_value() {
	local cur=$2 base=
	case $1 in
	-e | --event | -M | --metrics | --pfm-events)
		base=${cur%"${cur##*[,\{]}"}
		cur=${cur##*[,\{]}
		;;
	esac
	case $1 in
	-e | --event) _perf_list "$base" "$cur" "$(perf list --raw-dump hw sw tool cache pmu tracepoint 2>/dev/null)" ;;
	--pfm-events) _perf_list "$base" "$cur" "$(perf list --raw-dump pfm 2>/dev/null)" ;;
	-M | --metrics)
		_perf_list "$base" "$cur" "$(perf list --raw-dump metrics metricgroups 2>/dev/null)"
		;;
	-p | --pid | -t | --tid)
		base=${cur%"${cur##*,}"}
		_perf_list "$base" "${cur##*,}" "$(cd /proc && echo [0-9]*)"
		;;
	--control) _perf_list "" "$cur" fd: fifo: ;;
	--per-cache) _perf_reply -W "L1 L2 L3 L4" -- "$cur" ;;
	--call-graph) _perf_reply -W "caller callee fp" -- "$cur" ;;
	--ip) _perf_reply -W "symbol address page line" -- "$cur" ;;
	--data) _perf_reply -W "address page" -- "$cur" ;;
	-s | --sort)
		[[ $command == profile* || $command == top ]] || return 0
		base=${cur%"${cur##*,}"}
		_perf_list "$base" "${cur##*,}" comm pid tid cpu cgroup prio dso sym ip page daddr srcline
		;;
	-u | --uid) _perf_reply -u -- "$cur" ;;
	--pmu-filter | --cputype | --unit)
		_perf_reply -W "$(ls /sys/bus/event_source/devices 2>/dev/null)" -- "$cur"
		;;
	--pre | --post) _perf_reply -c -- "$cur" ;;
	-o | --output | --prog | --flamegraph | --pprof | --diff | --metrics-file | -i | --input | --bpf-attr-map)
		compopt -o filenames 2>/dev/null || :
		_perf_reply -f -- "$cur"
		;;
	esac
}

_perf() {
	local line=${COMP_LINE:0:COMP_POINT} words cur command values option="" i word first=2
	read -ra words <<<"$line"
	[[ $line == *[[:blank:]] ]] && words+=("")
	cur=${words[-1]}
	COMPREPLY=()

	# The options before the command.
	while ((${#words[@]} > 2)) && [[ ${words[1]} == -* ]]; do
		case ${words[1]} in
		--debugfs-dir | --buildid-dir | --debug) ((${#words[@]} > 3)) || break ;;&
		--debugfs-dir | --buildid-dir | --debug) words=("${words[0]}" "${words[@]:3}") ;;
		*) words=("${words[0]}" "${words[@]:2}") ;;
		esac
	done
	if [[ ${words[1]} == --*-dir && ${#words[@]} == 3 ]]; then
		compopt -o filenames 2>/dev/null || :
		_perf_reply -d -- "$cur"
		return
	elif [[ ${words[1]} == --debug && ${#words[@]} == 3 ]]; then
		_perf_reply -W "verbose perf-event-open" -- "$cur"
		return
	elif ((${#words[@]} == 2)); then
		_perf_reply -W "$(perf --list-cmds 2>/dev/null) $(perf --list-opts 2>/dev/null)" -- "$cur"
		return
	fi
	command=${words[1]}
	if [[ $command == help ]]; then
		_perf_reply -W "$(perf --list-cmds 2>/dev/null) $(perf help --list-opts 2>/dev/null)" -- "$cur"
		return
	fi
	if [[ $command == bperf ]]; then
		if ((${#words[@]} == 3)); then
			_perf_reply -W "$(perf bperf -h 2>&1 | sed -nE 's/^    ([a-z]+)  .*/\1/p')" -- "$cur"
			return
		fi
		command="bperf ${words[2]}"
		first=3
	fi
	if [[ $command == stat && ${#words[@]} -gt 3 ]]; then
		# Recording has the options of counting, reporting its own.
		[[ ${words[2]} == record ]] && first=3
		[[ ${words[2]} == report ]] && first=3 && command="stat report"
	fi
	if [[ $command == profile && ${#words[@]} -gt 3 && ${words[2]} == report ]]; then
		first=3
		command="profile report"
	fi

	# The kind of the word under the cursor: the value of an option, an option, or part of a command.
	# shellcheck disable=SC2086 # one word or two
	values=" $(_perf_takes_value $command | tr '\n' ' ')"
	for ((i = first; i < ${#words[@]} - 1; i++)); do
		word=${words[i]}
		if [[ $option ]]; then
			option=""
		elif [[ $word == -- ]]; then
			((i++))
			break
		elif [[ $word == --* && $values == *" $word "* ]]; then
			option=$word
		elif [[ $word == -[!-]* && $values == *" -${word: -1} "* ]]; then
			option=-${word: -1}
		elif [[ $word != -* ]]; then
			break
		fi
	done
	if [[ $command == "stat report" || $command == script || $command == config || $command == top ]] && ((i < ${#words[@]} - 1)); then
		return
	elif ((i < ${#words[@]} - 1)) || { ((i == ${#words[@]} - 1)) && [[ ${words[i - 1]} == -- ]]; }; then
		if [[ $command == list ]]; then
			_perf_reply -W "hw sw cache tracepoint pmu sdt metric metricgroup tool pfm bpf" -- "$cur"
		elif ((i == ${#words[@]} - 1)); then
			_perf_reply -c -- "$cur"
		else
			compopt -o filenames 2>/dev/null || :
			_perf_reply -f -- "$cur"
		fi
	elif [[ $option ]]; then
		_perf_value "$option" "$cur"
	elif [[ $cur == --*=* ]]; then
		_perf_value "${cur%%=*}" "${cur#*=}"
		[[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/${cur%%=*}=}")
	elif [[ $cur == -* ]]; then
		# shellcheck disable=SC2086
		_perf_reply -W "$(perf $command --list-opts 2>/dev/null) --help" -- "$cur"
	elif [[ $command == list ]]; then
		_perf_reply -W "hw sw cache tracepoint pmu sdt metric metricgroup tool pfm bpf" -- "$cur"
	elif [[ $command == config ]]; then
		compopt -o nospace 2>/dev/null || :
		_perf_reply -W "$(perf config -l 2>/dev/null | sed 's/=.*/=/')" -- "$cur"
	elif [[ $command == stat ]]; then
		mapfile -t COMPREPLY < <(compgen -W "record report" -- "$cur"; compgen -c -- "$cur")
	elif [[ $command == profile ]]; then
		mapfile -t COMPREPLY < <(compgen -W report -- "$cur"; compgen -c -- "$cur")
	elif [[ $command == "profile report" ]]; then
		compopt -o filenames 2>/dev/null || :
		_perf_reply -f -- "$cur"
	fi

	# Readline replaces only what follows the last of its word breaks.
	if [[ $COMP_WORDBREAKS == *:* && $cur == *:* ]]; then
		word=${cur%"${cur##*:}"}
		[[ $cur == --*=* ]] && word=${word#*=}
		COMPREPLY=("${COMPREPLY[@]#"$word"}")
	fi
}

complete -F _perf perf
