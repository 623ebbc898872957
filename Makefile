# SPDX-License-Identifier: GPL-2.0
# `make help` lists the targets. Everything generated goes below $(O).

VERSION := 0.1

CROSS_COMPILE ?=
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
CLANG ?= clang
BPFTOOL ?= $(or $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool),bpftool)
LLVM_STRIP ?= $(or $(shell command -v llvm-strip llvm-strip-14 | head -n 1),llvm-strip)
ASCIIDOCTOR ?= asciidoctor
PREFIX ?= /usr/local
prefix ?= $(PREFIX)
bindir ?= $(prefix)/bin
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
docdir ?= $(datadir)/doc/perf-stat
pkgdatadir ?= $(datadir)/perf-stat
bashcompdir ?= $(datadir)/bash-completion/completions
zshcompdir ?= $(datadir)/zsh/site-functions
fishcompdir ?= $(datadir)/fish/vendor_completions.d

TRIPLET := $(shell $(CC) -dumpmachine 2>/dev/null)
ARCH := $(firstword $(subst -, ,$(or $(TRIPLET),unknown)))
O ?= build/$(ARCH)

# A sysroot is a directory with another system's headers and libraries, Debian's layout or not.
SYSROOT ?=
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
ifneq ($(SYSROOT),)
PKG_CONFIG ?= env PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) PKG_CONFIG_PATH= \
	PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(MULTIARCH)/pkgconfig:$(SYSROOT)/usr/lib/pkgconfig:$(SYSROOT)/usr/share/pkgconfig \
	pkg-config
SYSROOT_CFLAGS := --sysroot=$(SYSROOT) -isystem $(SYSROOT)/usr/include/$(MULTIARCH) \
	-isystem $(SYSROOT)/usr/include
SYSROOT_LDFLAGS := --sysroot=$(SYSROOT) -L$(SYSROOT)/usr/lib/$(MULTIARCH) -L$(SYSROOT)/lib/$(MULTIARCH) \
	-Wl,-rpath-link,$(SYSROOT)/usr/lib/$(MULTIARCH):$(SYSROOT)/lib/$(MULTIARCH)
else ifneq ($(CROSS_COMPILE),)
PKG_CONFIG ?= env PKG_CONFIG_PATH= \
	PKG_CONFIG_LIBDIR=/usr/lib/$(MULTIARCH)/pkgconfig:/usr/$(patsubst %-,%,$(CROSS_COMPILE))/lib/pkgconfig \
	pkg-config
else
PKG_CONFIG ?= pkg-config
endif
export PKG_CONFIG

LIBS := libbpf libelf zlib json-c libcap

# It has no pkg-config: what compiles and links for the target is there. It is loaded when it is
# used. NO_LIBPFM=1 leaves it out.
ifneq ($(NO_LIBPFM),1)
HAVE_LIBPFM := $(shell printf '\043include <perfmon/pfmlib_perf_event.h>\nint main(void) { return pfm_initialize(); }\n' | \
	$(CC) -w $(SYSROOT_CFLAGS) $(SYSROOT_LDFLAGS) -x c - -o /dev/null -lpfm 2>/dev/null && echo 1)
endif

CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wformat=2 -Wno-format-nonliteral
ifdef CI
WARNINGS += -Werror
endif
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(WARNINGS) $(SYSROOT_CFLAGS) -I. -I$(O) \
	$(if $(HAVE_LIBPFM),-DHAVE_LIBPFM) -DPERF_VERSION='"$(VERSION)"' -DPERF_DATADIR='"$(pkgdatadir)"' $(shell $(PKG_CONFIG) --cflags $(LIBS) 2>/dev/null) \
	-ffile-prefix-map=$(CURDIR)=. $(CFLAGS)
ALL_LDFLAGS = $(SYSROOT_LDFLAGS) $(LDFLAGS)
ALL_LIBS = $(shell $(PKG_CONFIG) --libs $(LIBS) 2>/dev/null || echo -lbpf -lelf -lz -ljson-c -lcap) -lm
ifeq ($(SANITIZE),1)
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
ALL_CFLAGS += $(SANITIZERS)
ALL_LDFLAGS += $(SANITIZERS)
# Also for a directory named on the command line, but once: a make below this one gets ours.
ifeq ($(filter %-sanitize,$(O)),)
override O := $(O)-sanitize
endif
endif

# BPF objects are the same for all machines of one byte order; the kernel's types are declared by hand.
BPF_CFLAGS = -target bpf -mcpu=v3 -g -O2 -Wall -Wextra -Werror -I. \
	$(if $(SYSROOT),-idirafter $(SYSROOT)/usr/include -idirafter $(SYSROOT)/usr/include/$(MULTIARCH)) \
	-idirafter /usr/include -idirafter /usr/include/$(shell gcc -print-multiarch 2>/dev/null) \
	-ffile-prefix-map=$(CURDIR)=.

V ?= 0
ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

SRCS := $(wildcard builtin-*.c util/*.c)
SKELS := $(patsubst bpf_skel/%.bpf.c,$(O)/bpf_skel/%.skel.h,$(wildcard bpf_skel/*.bpf.c))
OBJS := $(SRCS:%.c=$(O)/%.o)
UNITS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/*.c))
MANS := $(patsubst Documentation/%.txt,$(O)/man/%.1,$(wildcard Documentation/*.txt))
METRICS := $(patsubst %,$(O)/%,$(wildcard metrics/*.json))
TARGETS := $(wildcard tests/workloads/*.bpf.c)
WORKLOADS := $(patsubst tests/workloads/%.c,$(O)/workloads/%,$(filter-out $(TARGETS),$(wildcard tests/workloads/*.c))) \
	$(TARGETS:tests/workloads/%.c=$(O)/workloads/%.o)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
.PHONY: all help deps run run-built test test-all test-built check bench unit workloads foreign fuzz fuzzers man install uninstall clean probe FORCE

all: $(O)/perf $(METRICS) ## build perf (the default)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo 'variables: O= V=1 SANITIZE=1 NO_LIBPFM=1 CROSS_COMPILE= SYSROOT= CC= CFLAGS= LDFLAGS= prefix= DESTDIR='

deps: ## install what building and testing need (Debian; elsewhere: say what)
	$(Q)scripts/deps

# Missing tools are named before the first compiler error would hide them.
$(O)/probed: scripts/probe scripts/packages
	$(Q)mkdir -p $(O)
	$(Q)scripts/probe build
	$(Q)touch $@

# What the last build was made with: other flags rebuild everything.
$(O)/flags: FORCE | $(O)/probed
	$(Q)echo '$(CC) $(subst ','\'',$(ALL_CFLAGS) $(ALL_LDFLAGS))' | cmp -s - $@ || \
		echo '$(CC) $(subst ','\'',$(ALL_CFLAGS) $(ALL_LDFLAGS))' >$@

$(O)/perf: $(O)/perf.o $(OBJS)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LIBS)

# Beside the program, where it finds them before it is installed.
$(O)/metrics/%: metrics/%
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@

$(O)/%.o: %.c $(O)/flags | $(SKELS)
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/bpf_skel/%.bpf.o: bpf_skel/%.bpf.c | $(O)/probed
	$(say) BPF $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
	$(Q)$(LLVM_STRIP) -g $@

$(O)/bpf_skel/%.skel.h: $(O)/bpf_skel/%.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $(*F)_bpf >$@

.SECONDARY:

$(O)/tests/unit/%: tests/unit/%.c $(OBJS)
	$(say) UNIT $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(OBJS) \
		$(ALL_LIBS) -lcmocka

$(O)/workloads/%: tests/workloads/%.c $(wildcard tests/workloads/*.h bpf_skel/leader*.h) | $(O)/probed
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra $(SYSROOT_CFLAGS) $(SYSROOT_LDFLAGS) \
		$(if $(SYSROOT),-static) -pthread -o $@ $< $(if $(shell grep -l "<bpf/bpf.h>" $<),-lbpf -lelf -lz)

# BPF programs for the tests to count.
$(O)/workloads/%.bpf.o: tests/workloads/%.bpf.c | $(O)/probed
	$(say) BPF $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -Wno-unused-parameter -c -o $@ $<

# Another implementation of sharing, for the tests.
$(O)/foreign/%.bpf.o: tests/foreign/%.bpf.c tests/foreign/readings.h | $(O)/probed
	$(say) BPF $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -Wno-unused-parameter -c -o $@ $<
	$(Q)$(LLVM_STRIP) -g $@

$(O)/foreign/foreign: tests/foreign/foreign.c | $(O)/probed
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(ALL_LIBS)

foreign: $(O)/foreign/foreign $(O)/foreign/leader.bpf.o $(O)/foreign/follower.bpf.o
workloads: $(WORKLOADS) foreign
unit: $(UNITS)

# A make of its own does the work: before deps there may be no compiler to name $(O) after.
run: ## install what is missing, build, and show two runs sharing their counters
	$(Q)scripts/deps build
	$(Q)$(MAKE) --no-print-directory run-built

test: deps ## install what is missing, and run all tests: unit, command line, emulated machines
	$(Q)$(MAKE) --no-print-directory test-built

test-all: deps ## the same in full length on all kernels; parts by KERNELS="6.1 6.12" PLACES="amd host"
	$(Q)$(MAKE) --no-print-directory TESTS=full test-built

run-built: all workloads
	$(Q)scripts/run $(O)

TESTS ?= all

# Beside what is tested stands the same with the compiler's checks, for the test of every output mode.
test-built: all workloads unit
	$(Q)$(if $(filter 1,$(SANITIZE)),,$(MAKE) --no-print-directory SANITIZE=1 all)
	$(Q)$(if $(HAVE_FUZZER),$(MAKE) --no-print-directory fuzzers)
	$(Q)O=$(O) scripts/test $(TESTS)

# Objects of their own: the fuzzer wants to see which way the code goes.
FUZZ_SECONDS ?= 60
FUZZ_CFLAGS = $(filter-out -Werror,$(ALL_CFLAGS)) -g -fsanitize=fuzzer-no-link,address
HAVE_FUZZER = $(shell echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	$(CLANG) -w -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null && echo 1)
FUZZERS := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/*.c))
FUZZ_OBJS := $(SRCS:%.c=$(O)/fuzz/obj/%.o)

$(O)/fuzz/obj/%.o: %.c $(O)/flags | $(SKELS)
	$(say) FUZZ $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/fuzz/%: tests/fuzz/%.c $(FUZZ_OBJS)
	$(say) FUZZ $@
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $< $(FUZZ_OBJS) $(ALL_LIBS)

fuzzers: $(FUZZERS)

# Begins with tests/fuzz/NAME.corpus, an input a line. What is found to matter stays in
# $(O)/fuzz/corpus; a crash is kept there, too, and fails.
fuzz: $(FUZZERS) ## feed made-up input to parsers, each for FUZZ_SECONDS (needs clang's libFuzzer)
	$(Q)for fuzzer in $(FUZZERS); do \
		O=$(O) scripts/fuzz $${fuzzer##*/} -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 || exit 1; \
	done

check: all workloads unit ## the tests that need no network and no root
	$(Q)O=$(O) scripts/test user

bench: ## measure the costs on the emulated PMU, as in Documentation/costs.md
	$(Q)scripts/bench

man: $(MANS) ## build the man pages (needs asciidoctor); install takes them along

$(O)/man/%.1: Documentation/%.txt
	$(say) MAN $@
	$(Q)mkdir -p $(@D)
	$(Q)$(ASCIIDOCTOR) -b manpage -a reproducible -a manmanual='perf' -a mansource='perf $(VERSION)' -o $@ $<

install: all ## install below $(DESTDIR)$(prefix)
	$(say) INSTALL $(DESTDIR)$(bindir)/perf
	$(Q)install -D -m 755 $(O)/perf $(DESTDIR)$(bindir)/perf
	$(Q)install -D -m 644 -t $(DESTDIR)$(pkgdatadir)/metrics $(wildcard metrics/*.json)
	$(Q)install -D -m 644 completion/perf.bash $(DESTDIR)$(bashcompdir)/perf
	$(Q)install -D -m 644 -t $(DESTDIR)$(zshcompdir) completion/_perf
	$(Q)install -D -m 644 -t $(DESTDIR)$(fishcompdir) completion/perf.fish
	$(Q)install -D -m 644 -t $(DESTDIR)$(docdir) README.md NEWS.md COPYING $(wildcard Documentation/*)
	$(Q)$(if $(wildcard $(MANS)),install -D -m 644 -t $(DESTDIR)$(mandir)/man1 $(wildcard $(MANS)))

uninstall: ## remove what install put there
	$(Q)rm -f $(DESTDIR)$(bindir)/perf $(MANS:$(O)/man/%=$(DESTDIR)$(mandir)/man1/%) \
		$(DESTDIR)$(bashcompdir)/perf $(DESTDIR)$(zshcompdir)/_perf $(DESTDIR)$(fishcompdir)/perf.fish
	$(Q)rm -f $(patsubst %,$(DESTDIR)$(pkgdatadir)/%,$(wildcard metrics/*.json))
	$(Q)-rmdir $(DESTDIR)$(pkgdatadir)/metrics $(DESTDIR)$(pkgdatadir) 2>/dev/null
	$(Q)rm -rf $(DESTDIR)$(docdir)

clean: ## remove everything generated (the cache of kernels for the tests stays)
	$(Q)rm -rf build

-include $(FUZZ_OBJS:.o=.d) $(OBJS:.o=.d) $(O)/perf.d $(wildcard $(O)/bpf_skel/*.d) $(wildcard $(O)/tests/unit/*.d)
