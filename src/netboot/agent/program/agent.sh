#!/bin/sh
# Slipway's agent: finds the server, reports the hardware, and carries out one order after the other until the power goes.
# docs/agent-protocol.md says what is asked and answered.
set -u
umask 077

HERE=${0%/*}
SYS=/sys DEV=/dev RUN=/run/slipway
mkdir -p "$RUN/results"
for part in report drivers network parts disks inventory seal server image data proof wipe secure leave cards tpm orders; do
    . "$HERE/$part.sh"
done

read_command_line /proc/cmdline
say "Slipway's agent $(cat "$HERE/version") on Linux $(uname -r)"
load_drivers &
drivers=$!
connect
fetch_rest
wait "$drivers"
load_drivers
register
ship_lines &
while :; do
    next_order
done
