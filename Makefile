# SPDX-License-Identifier: GPL-2.0
# `make help` lists the targets. All generated files go below $(O).

VERSION := 0.1

CROSS_COMPILE ?=
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
CLANG ?= clang
BPFTOOL ?= $(or $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool),bpftool)
LLVM_STRIP ?= $(or $(shell command -v llvm-strip llvm-strip-14 | head -n 1),llvm-strip)
ASCIIDOCTOR ?= asciidoctor
prefix ?= /usr/local
# The name of the installed program.
NAME ?= perf
PKG := $(if $(filter perf,$(NAME)),perf-stat,$(NAME))
bindir ?= $(prefix)/bin
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
docdir ?= $(datadir)/doc/$(PKG)
pkgdatadir ?= $(datadir)/$(PKG)
pkglibdir ?= $(prefix)/lib/$(PKG)
bashcompdir ?= $(datadir)/bash-completion/completions
zshcompdir ?= $(datadir)/zsh/site-functions
fishcompdir ?= $(datadir)/fish/vendor_completions.d

# The fuzzers need clang's libFuzzer. A build for the sanitizers then uses clang, so that its objects are also theirs.
HAVE_FUZZER = $(shell echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	$(CLANG) -w -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null && echo 1)
FUZZING :=
ifeq ($(SANITIZE)-$(origin CC)-$(CROSS_COMPILE),1-file-)
FUZZING := $(HAVE_FUZZER)
CC := $(if $(FUZZING),$(CLANG),$(CC))
endif

TRIPLET := $(shell $(CC) -dumpmachine 2>/dev/null)
ARCH := $(firstword $(subst -, ,$(or $(TRIPLET),unknown)))
O ?= build/$(ARCH)

# A sysroot is a directory with another system's headers and libraries, with or without Debian's layout.
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
ONE_OF_EACH := bpf_object__load elf_begin crc32 json_tokener_parse_ex cap_get_proc
comma := ,

# These goals compile nothing: they run no pkg-config, and the compiler only to name $(O).
BUILDS := $(filter-out install uninstall dist clean help,$(or $(MAKECMDGOALS),all))

# libpfm4 has no pkg-config file, so the probe compiles and links a program for the target. perf loads
# it when an option needs it. NO_LIBPFM=1 leaves it out.
ifneq ($(and $(BUILDS),$(filter-out 1,$(or $(NO_LIBPFM),0))),)
HAVE_LIBPFM := $(shell printf '\043include <perfmon/pfmlib_perf_event.h>\nint main(void) { return pfm_initialize(); }\n' | \
	$(CC) -w $(SYSROOT_CFLAGS) $(SYSROOT_LDFLAGS) -x c - -o /dev/null -lpfm 2>/dev/null && echo 1)
endif

# libdw needs only its headers here: perf loads it when an option needs it. NO_LIBDW=1 leaves it out.
ifneq ($(and $(BUILDS),$(filter-out 1,$(or $(NO_LIBDW),0))),)
HAVE_LIBDW := $(shell printf '\043include <dwarf.h>\n\043include <elfutils/libdw.h>\n' | \
	$(CC) -w $(SYSROOT_CFLAGS) -x c - -fsyntax-only 2>/dev/null && echo 1)
endif

# libiberty has no pkg-config file, and is an archive only. NO_LIBIBERTY=1 leaves it out.
ifneq ($(and $(BUILDS),$(filter-out 1,$(or $(NO_LIBIBERTY),0))),)
HAVE_LIBIBERTY := $(shell printf 'int rust_demangle_callback();\nint main(void) { return rust_demangle_callback("", 0, 0, 0); }\n' | \
	$(CC) -w $(SYSROOT_CFLAGS) $(SYSROOT_LDFLAGS) -x c - -o /dev/null -liberty 2>/dev/null && echo 1)
endif

# With the sanitizers, -O2 takes twice as long to compile.
CFLAGS ?= $(if $(filter 1,$(SANITIZE)),-Og,-O2) -g
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wformat=2 -Wno-format-nonliteral
ifdef CI
WARNINGS += -Werror
endif

# CFLAGS and LDFLAGS come later on the command line, so they override these. _FORTIFY_SOURCE needs
# optimisation, and hides overflows from the sanitizers. Compilers that define it warn about a second
# definition, hence the -U.
OPTIMISES := $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))
FORTIFY := $(if $(OPTIMISES),$(if $(filter 1,$(SANITIZE))$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
PIE := $(if $(filter -fno-pie -fno-PIE -no-pie -nopie -static,$(CFLAGS) $(LDFLAGS)),,-pie)
HARDENING_CFLAGS := -fstack-protector-strong $(FORTIFY) $(if $(PIE),-fPIE)
HARDENING_LDFLAGS := $(PIE) -Wl,-z,relro,-z,now

# perf finds data relative to itself. Only another place is compiled in, so that prefix rebuilds nothing.
DATADIR := $(if $(filter $(bindir:%/bin=%)/share/$(PKG),$(pkgdatadir)),,-DPERF_DATADIR='"$(pkgdatadir)"')

LIB_CFLAGS := $(if $(BUILDS),$(shell $(PKG_CONFIG) --cflags $(LIBS) 2>/dev/null))
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(WARNINGS) $(SYSROOT_CFLAGS) -I. -I$(O) \
	$(if $(HAVE_LIBPFM),-DHAVE_LIBPFM) $(if $(HAVE_LIBDW),-DHAVE_LIBDW) $(if $(HAVE_LIBIBERTY),-DHAVE_LIBIBERTY) -DPERF_VERSION='"$(VERSION)"' $(DATADIR) $(LIB_CFLAGS) \
	-ffile-prefix-map=$(CURDIR)=. $(HARDENING_CFLAGS) $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(SYSROOT_LDFLAGS) $(HARDENING_LDFLAGS) $(LDFLAGS)

# perf contains its libraries if their archives are there: each library outside takes 150,000
# instructions of every start. SHARED_LIBS=1 leaves them outside, as distributions want it.
SHARED := $(or $(filter 1,$(SHARED_LIBS) $(SANITIZE)),$(filter -static%,$(CFLAGS) $(LDFLAGS)))
ARCHIVES := $(if $(BUILDS),$(if $(SHARED),,-Wl,-Bstatic $(shell $(PKG_CONFIG) --static --libs $(LIBS) 2>/dev/null) -Wl,-Bdynamic))
ARCHIVES := $(if $(ARCHIVES),$(shell printf 'int main(void) { return 0; }\n' | $(CC) -w $(SYSROOT_CFLAGS) -fPIE \
	$(SYSROOT_LDFLAGS) -pie -x c - -o /dev/null $(patsubst %,-Wl$(comma)-u$(comma)%,$(ONE_OF_EACH)) \
	$(ARCHIVES) -lm 2>/dev/null && echo '$(ARCHIVES)'))
ALL_LIBS := $(or $(ARCHIVES),$(if $(BUILDS),$(shell $(PKG_CONFIG) --libs $(LIBS) 2>/dev/null || echo -lbpf -lelf -lz -ljson-c -lcap))) $(if $(HAVE_LIBIBERTY),-liberty) -lm
ifeq ($(SANITIZE),1)
SANITIZERS := -fsanitize=address,undefined$(if $(FUZZING),$(comma)fuzzer-no-link) -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer -DSANITIZED
ALL_CFLAGS += $(SANITIZERS)
ALL_LDFLAGS += $(SANITIZERS)
# Append it also to an O of the command line, but only once: a make below this one gets our O.
ifeq ($(filter %-sanitize,$(O)),)
override O := $(O)-sanitize
endif
endif

# BPF objects are the same for all machines of one byte order: the sources declare the kernel's types.
BPF_CFLAGS = -target bpf -mcpu=v3 -g -O2 -Wall -Wextra -Wshadow -Werror -I. \
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

SRCS := $(wildcard builtin-*.c util/*/*.c)
SKELS := $(patsubst bpf_skel/%.bpf.c,$(O)/bpf_skel/%.skel.h,$(wildcard bpf_skel/*.bpf.c))
OBJS := $(SRCS:%.c=$(O)/%.o)
UNITS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/*.c))
MANS := $(patsubst Documentation/perf%.txt,$(O)/man/$(NAME)%.1,$(wildcard Documentation/perf*.txt))
METRICS := $(patsubst %,$(O)/%,$(wildcard metrics/*.json))
DRIVERS := $(patsubst tests/drivers/%.c,$(O)/drivers/%,$(wildcard tests/drivers/*.c))
TARGETS := $(wildcard tests/workloads/*.bpf.c)
WORKLOADS := $(patsubst tests/workloads/%.c,$(O)/workloads/%,$(filter-out $(TARGETS),$(wildcard tests/workloads/*.c))) \
	$(TARGETS:tests/workloads/%.c=$(O)/workloads/%.o)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
.PHONY: all help deps dist deb run run-built test test-all test-built check rooms bench soak coverage mutants unit workloads drivers foreign fuzz fuzzers man install uninstall clean probe FORCE

all: $(O)/perf $(METRICS) ## build perf (the default)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo 'variables: O= V=1 SANITIZE=1 NO_LIBPFM=1 NO_LIBDW=1 NO_LIBIBERTY=1 SHARED_LIBS=1 CROSS_COMPILE= SYSROOT= CC= CFLAGS= LDFLAGS= prefix= DESTDIR= NAME= JOBS='

deps: ## install what building and testing need (elsewhere than on Debian: name it)
	$(Q)scripts/deps

# Name missing tools before the first compiler error hides them.
$(O)/probed: scripts/probe scripts/packages
	$(Q)mkdir -p $(O)
	$(Q)scripts/probe build
	$(Q)touch $@

# The flags of the last build: other flags rebuild everything.
$(O)/flags: FORCE | $(O)/probed
	$(Q)echo '$(CC) $(subst ','\'',$(ALL_CFLAGS) $(ALL_LDFLAGS) $(ALL_LIBS))' | cmp -s - $@ || \
		echo '$(CC) $(subst ','\'',$(ALL_CFLAGS) $(ALL_LDFLAGS) $(ALL_LIBS))' >$@

$(O)/perf: $(O)/perf.o $(OBJS)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LIBS)

# The perf of the tests, which environment variables can end, stop and limit (crash_point.h).
$(O)/tests/crash_point.o: util/bperf/crash_point.c $(O)/flags
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -DCRASH_POINTS -MMD -MP -c -o $@ $<

TEST_OBJS := $(O)/tests/crash_point.o $(filter-out $(O)/util/bperf/crash_point.o,$(OBJS))

$(O)/tests/perf: $(O)/perf.o $(TEST_OBJS) | $(O)/perf
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LIBS)
	$(Q)ln -sfn ../metrics $(O)/tests/metrics

# perf finds the metrics beside itself as long as it is not installed.
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

# The script of flame graphs as a text of C.
$(O)/%.inc: %.js
	$(say) TEXT $@
	$(Q)mkdir -p $(@D)
	$(Q)sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< >$@

$(O)/util/profile/flame_svg.o: $(O)/util/profile/flame_graph.inc

.SECONDARY:

# From an archive the linker takes only what a test calls, which takes a fourth of the time.
$(O)/tests/objs.a: $(OBJS)
	$(say) AR $@
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && $(CROSS_COMPILE)ar rcs $@ $^

$(O)/tests/unit/%: tests/unit/%.c $(O)/tests/objs.a
	$(say) UNIT $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(O)/tests/objs.a \
		$(ALL_LIBS) -lcmocka

# Programs for the tests that use parts of perf.
$(O)/drivers/%: tests/drivers/%.c $(TEST_OBJS)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(TEST_OBJS) $(ALL_LIBS)

$(O)/workloads/%: tests/workloads/%.c $(wildcard tests/workloads/*.h bpf_skel/*.h) | $(O)/probed
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra $(SYSROOT_CFLAGS) $(SYSROOT_LDFLAGS) \
		$(if $(SYSROOT),-static) -pthread -o $@ $< $(if $(shell grep -l "<bpf/bpf.h>" $<),-lbpf -lelf -lz)

# BPF programs for the tests to count.
$(O)/workloads/%.bpf.o: tests/workloads/%.bpf.c $(wildcard tests/workloads/*.h) | $(O)/probed
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
workloads: $(WORKLOADS) foreign drivers $(O)/tests/perf
drivers: $(DRIVERS)
unit: $(UNITS)

# A second make does the work: before deps there may be no compiler to name $(O) after. It runs a job per
# CPU, unless this one was given a number.
PARALLEL = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

run: ## install what is missing, build, and show two sessions that share their counters
	$(Q)scripts/deps build
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) run-built

test: deps ## install what is missing, and run all tests: unit, command line, emulated machines
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) test-built

test-all: deps ## the same at full length on all kernels; parts with KERNELS="6.1 6.12" PLACES="amd host"
	$(Q)scripts/deps package full || :
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) TESTS=full test-built

run-built: all workloads
	$(Q)scripts/run $(O)

TESTS ?= all
# The time of the tests begins here, and includes installing and building.
export MAKE_STARTED := $(or $(MAKE_STARTED),$(shell date +%s))

# The unit tests also run with the compiler's sanitizers, and the test of every output mode needs such a perf.
test-built: all workloads unit
	$(Q)$(MAKE) --no-print-directory SANITIZE=1 all unit $(if $(HAVE_FUZZER),fuzzers)
	$(Q)O=$(O) scripts/test $(TESTS)

FUZZ_SECONDS ?= 60
FUZZERS := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/*.c))

$(O)/fuzz/%: tests/fuzz/%.c $(O)/tests/objs.a
	$(say) FUZZ $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(O)/tests/objs.a $(ALL_LIBS)

fuzzers: $(if $(filter 1,$(SANITIZE)),$(FUZZERS))
	$(Q)$(if $(filter 1,$(SANITIZE)),,$(MAKE) --no-print-directory SANITIZE=1 fuzzers)

# Fuzzing begins with tests/fuzz/NAME.corpus, an input a line. fuzz/corpus beside the fuzzers keeps inputs that
# reach new code and inputs that crash. A crash is a failure.
fuzz: fuzzers ## feed generated input to parsers, each for FUZZ_SECONDS (needs clang's libFuzzer)
	$(Q)for fuzzer in $(FUZZERS); do \
		O=$(O) scripts/fuzz $${fuzzer##*/} -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 || exit 1; \
	done

check: all workloads unit ## run the tests that need no network and no root
	$(Q)O=$(O) scripts/test user

rooms: ## write the table of rooms and files into Documentation/design.md
	$(Q)scripts/rooms

bench: ## measure the costs on the emulated PMU, as in Documentation/costs.md
	$(Q)scripts/bench

soak: all workloads ## run and disturb sessions at random, check all counts: SOAK_SECONDS=1800 SEED= PLACES=host
	$(Q)O=$(O) scripts/soak

coverage: ## list which part of the sources the tests of this machine reach
	$(Q)O=$(O) scripts/coverage

mutants: ## plant faults and see if tests notice, after make coverage: MUTANTS=200 BPF=30 SEED=1
	$(Q)O=$(O) scripts/mutants

man: $(MANS) ## build the man pages (needs asciidoctor); then install also installs them

define make_man
	$(say) MAN $@
	$(Q)mkdir -p $(@D)
	$(Q)scripts/rename $(NAME) manual <$< >$(@:.1=.txt)
	$(Q)$(ASCIIDOCTOR) -b manpage -a reproducible -a manmanual='$(NAME)' -a mansource='$(NAME) $(VERSION)' \
		-o $@ $(@:.1=.txt)
endef

$(O)/man/$(NAME).1: Documentation/perf.txt scripts/rename
	$(make_man)

$(O)/man/$(NAME)-%.1: Documentation/perf-%.txt scripts/rename
	$(make_man)

RUN_INSTALL = $(foreach v,O NAME DESTDIR bindir mandir docdir pkgdatadir pkglibdir bashcompdir zshcompdir fishcompdir,\
	$(v)='$($(v))') scripts/install

# Install the build as it is: root may have another PATH or compiler.
install: $(filter all man,$(MAKECMDGOALS)) ## install below $(DESTDIR)$(prefix), with NAME=bperf beside another perf
	$(Q)$(if $(wildcard $(O)/perf),,$(MAKE) --no-print-directory all)
	$(say) INSTALL $(DESTDIR)$(bindir)/$(NAME)
	$(Q)$(RUN_INSTALL)

uninstall: ## remove the files that install puts there
	$(Q)$(RUN_INSTALL) remove

dist: ## write the sources of the last commit into $(O)/dist, always the same bits
	$(Q)O='$(O)' VERSION=$(VERSION) scripts/dist

deb: ## build Debian packages in $(O)/deb (needs debhelper)
	$(Q)O='$(O)' VERSION=$(VERSION) scripts/deb

clean: ## remove all generated files (the cache of kernels for the tests stays)
	$(Q)rm -rf build

-include $(OBJS:.o=.d) $(O)/perf.d $(O)/tests/crash_point.d $(SKELS:.skel.h=.bpf.d) $(wildcard $(O)/tests/unit/*.d $(O)/drivers/*.d $(O)/fuzz/*.d)
