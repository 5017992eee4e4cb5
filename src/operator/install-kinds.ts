import type { Clock } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { installCrds, installOwnCrds } from "../kinds/install.ts";
import type { System } from "../systems/system.ts";
import { KINDS, type Kinds } from "./kinds.ts";

/**
 * Installs Slipway's own kinds (or `own` in their place), and those of these systems that may be foreign where nobody has installed them. Rejects with a `Fault` where
 * the API refuses one.
 */
export async function installKinds(
  systems: readonly Pick<System, "kinds" | "kindsMayBeForeign">[],
  { client, clock, signal }: { client: Client; clock: Clock; signal: AbortSignal },
  own: Kinds = KINDS,
): Promise<void> {
  await installCrds(client, clock, signal, own);
  const mayBeForeign = systems.flatMap(({ kinds, kindsMayBeForeign }) => (kindsMayBeForeign ? kinds : []));
  await installOwnCrds(client, clock, signal, [...new Set(mayBeForeign)]);
}
