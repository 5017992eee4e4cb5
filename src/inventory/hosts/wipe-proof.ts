import type { Disk, Result } from "../../netboot/protocol/messages.ts";

/** What the agent's report of a wipe proves of the disks of its machine, which are unset while nobody knows them. Pure. */
export function wipeProof(
  { ok, message, disks = [] }: Result,
  known: readonly Disk[] | undefined,
): { proof: string } | { problem: string } {
  const problem = (what: string) => ({ problem: `the disks are not wiped: ${what}` });
  if (!ok) return problem(message);
  if (known === undefined) return problem("its agent has not reported which it has");
  const unproven = disks.filter((each) => !each.proven).map(({ disk }) => disk);
  const told = new Set(disks.map(({ disk }) => disk));
  const missing = known.filter(({ name, readOnly }) => !readOnly && !told.has(name)).map(({ name }) => name);
  const left = [...new Set([...unproven, ...missing])];
  if (left.length > 0) return problem(`nothing is proven of ${left.join(", ")}`);
  const proven = disks.map(({ disk, how }) => `${disk} (${how})`).join(", ");
  return { proof: `wiped, and read back: ${proven || "no disks"}` };
}
