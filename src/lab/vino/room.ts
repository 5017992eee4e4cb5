/**
 * Rooms: programs with a network, mounts and processes of their own, plugged into the lab's network, as nodes and Pods are. All in a room ends with the
 * process that `inRoom` names, which is to be killed.
 */

/** The network that the room is made in stays reachable as this file of each process in it, until it closes it. */
const DOOR = "/proc/self/fd/9";

const OUTER = `PATH=$PATH:/usr/sbin:/sbin
exec 9</proc/self/ns/net
exec unshare --mount --net --pid --fork --kill-child --mount-proc --propagation private sh -ec "$@"`;

/** A line of sh for a room: a cable from a device of the room to one of the network outside, whose name it is then plugged in by. */
export function cable(inside: string, outside: string, plugged: string): string {
  // The shell is the room's first process.
  return [
    `nsenter --net=${DOOR} ip link add ${outside} type veth peer name ${inside} netns 1`,
    `nsenter --net=${DOOR} ip ${plugged}`,
    `nsenter --net=${DOOR} ip link set ${outside} up`,
    `ip link set ${inside} up`,
  ].join("\n");
}

/** The command that runs lines of sh in a room; they find `args` as `$1` and on, and root's rights. To be called in the network that it is plugged into. */
export function inRoom(lines: readonly string[], args: readonly string[]): { command: string; args: string[] } {
  return { command: "sh", args: ["-c", OUTER, "sh", lines.join("\n"), "room", ...args] };
}
