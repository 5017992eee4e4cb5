/**
 * A command as it runs in a network namespace of its own, with nothing in it but a loopback, in which it may do as root does
 * without being root outside. It takes this process's place: signals reach the command itself.
 */
export function inOwnNetwork(
  command: string,
  args: readonly string[],
  { root }: { root: boolean },
): { command: string; args: string[] } {
  // Root needs no user namespace, and in containers mostly may not have one.
  const user = root ? [] : ["--user", "--map-root-user"];
  return { command: "unshare", args: [...user, "--net", "--", command, ...args] };
}
