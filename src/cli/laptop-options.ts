import type { Client } from "@slipway/kube";
import { Option } from "commander";
import { KUBERNETES } from "../laptop/kubernetes.ts";
import { SYSTEMS } from "../operator/systems.ts";
import type { Counterpart, StandInHardware } from "../systems/counterpart.ts";
import { namesOf } from "./option-values.ts";

/** The option `--kubernetes` of `demo` and `up`, refused for other values. */
export const kubernetesOption = (): Option =>
  new Option(
    "--kubernetes <which>",
    "the embedded API, or real etcd and kube-apiserver (from `make kube-assets` or KUBEBUILDER_ASSETS)",
  )
    .choices(KUBERNETES)
    .default("embedded");

const SIMULATED = SYSTEMS.filter(({ simulated }) => simulated !== undefined);

/** The systems whose surroundings can be simulated beside the providers: clusters that their machines join. */
export const SIMULATED_NAMES: readonly string[] = SIMULATED.map(({ name }) => name);

/** The folders with the manifests of the systems of these names. */
export const examplesOf = (names: readonly string[]): string[] =>
  SIMULATED.flatMap(({ name, examples }) => (names.includes(name) && examples !== undefined ? [examples] : []));

/** `--sim NAME`: repeated, or names separated by commas. None unless chosen. */
export function simulatedSystems(): Option {
  const names = namesOf(SIMULATED_NAMES);
  const collect = (text: string, before: readonly string[]): string[] => [...new Set([...before, ...names(text)])];
  return new Option("--sim <systems>", `simulated clusters that machines join: ${SIMULATED_NAMES.join(", ")}`)
    .argParser(collect)
    .default([], "none");
}

/** The counterparts of the systems of these names. Default: of all. */
export async function counterpartsOf(names: readonly string[] = SIMULATED_NAMES): Promise<Counterpart[]> {
  const chosen = SIMULATED.filter(({ name }) => names.includes(name));
  return await Promise.all(chosen.map(async (system) => (await system.simulated!()).counterpart));
}

/** Lines for the user about what was simulated here before and is not now; none where nothing is left of it. */
export async function linesOfLeftOvers(client: Client, chosen: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const name of SIMULATED_NAMES.filter((name) => !chosen.includes(name))) {
    const [counterpart] = await counterpartsOf([name]);
    const commands = await counterpart!.leftOvers(client);
    if (commands.length === 0) continue;
    const before = `A simulated ${counterpart!.title} cluster ran on this state before, and stands still now.`;
    lines.push(`${before} --sim ${name} goes on with it; to remove what is left of it:`, "");
    lines.push(...commands.map((command) => `  ${command}`), "");
  }
  return lines;
}

/** What stands in for machines of a user's own, by the names of the systems that serve them. */
export async function standInHardware(): Promise<Record<string, StandInHardware>> {
  const loaded = await Promise.all(
    SYSTEMS.map(async ({ name, ownHardware }) => [name, (await ownHardware?.())?.hardware] as const),
  );
  return Object.fromEntries(loaded.flatMap(([name, hardware]) => (hardware === undefined ? [] : [[name, hardware]])));
}
