// Command bootstrap-data does what cloud-init does for a node, as far as Cluster API's bootstrap data go: it finds the user data of this boot and
// carries them out. Sources, the first that has some: the kernel's command line (slipway.userdata=URL, ds=nocloud;s=URL), a file system
// with the label cidata (NoCloud) or config-2 (a config drive). Forms: #cloud-config, also as a Jinja template of Cluster API, a script with #!, several of them as MIME
// parts, each also packed with gzip.
//
// What it does not know it names on standard error, and goes on. Ends with 1 when there are user data that could not be had or read, or when
// their commands failed; with 3 where there are none.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

const exitNone = 3

func main() {
	root := flag.String("root", "/", "the `folder` below which files are written")
	folder := flag.String("disk", "", "a `folder` with what such a file system has, in the place of those of this boot")
	file := flag.String("user-data", "", "a `file` with user data, in the place of those of this boot")
	metaFile := flag.String("meta-data", "", "a `file` with the meta data to it")
	commandLine := flag.String("command-line", "/proc/cmdline", "the `file` with the kernel's command line")
	runtime := flag.String("runtime", "", "the container runtime's `socket`, which is waited for; empty: nothing is")
	waitOnly := flag.Bool("wait", false, "wait for the runtime, and carry out nothing: cloud-init does")
	flag.Parse()
	if *waitOnly {
		if err := waitForRuntime(*runtime); err != nil {
			say("%v", err)
			os.Exit(1)
		}
		return
	}
	seed, err := readSeed(*folder, *file, *metaFile, *commandLine)
	if errors.Is(err, errNoSeed) {
		say("no user data: neither on the command line (slipway.userdata=, ds=nocloud;s=) nor a disk with the label cidata or config-2")
		os.Exit(exitNone)
	}
	if err == nil && *runtime != "" {
		err = waitForRuntime(*runtime)
	}
	if err == nil {
		err = node{root: *root}.carryOut(seed)
	}
	if err != nil {
		say("%v", err)
		os.Exit(1)
	}
}

func say(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "bootstrap-data: "+format+"\n", values...)
}
