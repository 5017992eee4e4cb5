import type { Clock } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { installCrds, installOwnCrds } from "../kinds/install.ts";
import type { System } from "../systems/system.ts";
import { KINDS } from "./kinds.ts";

/**
 * Installs Slipway's own kinds, and those of these systems that may be foreign where nobody has installed them. Rejects with a `Fault` where
 * the API refuses one.
 */
export async function installKinds(
  systems: readonly Pick<System, "kinds" | "kindsMayBeForeign">[],
  { client, clock, signal }: { client: Client; clock: Clock; signal: AbortSignal },
): Promise<void> {
  await installCrds(client, clock, signal, KINDS);
  for (const { kinds, kindsMayBeForeign } of systems)
    if (kindsMayBeForeign) await installOwnCrds(client, clock, signal, kinds);
}
