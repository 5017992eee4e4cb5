const LOOPBACK_UP = 'PATH=$PATH:/usr/sbin:/sbin ip link set lo up && exec "$0" "$@"';

/**
 * A command as it runs in a network namespace of its own, with nothing in it but its loopback, in which it may do as root does
 * without being root outside. It takes this process's place: signals reach the command itself.
 */
export function inOwnNetwork(
  command: string,
  args: readonly string[],
  { root }: { root: boolean },
): { command: string; args: string[] } {
  // Root needs no user namespace, and in containers mostly may not have one.
  const user = root ? [] : ["--user", "--map-root-user"];
  return { command: "unshare", args: [...user, "--net", "--", "sh", "-c", LOOPBACK_UP, command, ...args] };
}
