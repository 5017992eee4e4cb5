import { quietLog, type Random } from "@slipway/base";
import type { VirtualClock } from "@slipway/base/virtual-clock";
import type { Transport } from "@slipway/kube";

/** The Kubernetes API that one world plays on. */
export interface WorldApi {
  /** A way to it as the cluster's administrator, or as the operator with the rights that are shipped. */
  transport(as: "administrator" | "operator"): Transport;
  /** For servers outside the process: see `VirtualClock`. */
  outside(): Promise<void> | undefined;
  close(): Promise<void>;
}

export interface Stage {
  begin(clock: VirtualClock, random: Random): Promise<WorldApi>;
  /** Of a long row of like worlds every n-th is played: 1 where a world is cheap. */
  everyNth: number;
}

let stage: Stage = {
  async begin(clock, random) {
    // Not loaded where another server takes its place.
    const { createApiServer } = await import("@slipway/apiserver");
    const { convertersByDefinition } = await import("../../src/kinds/conversion.ts");
    const { convertedKinds } = await import("../../src/operator/kinds.ts");
    const { SYSTEMS } = await import("../../src/operator/systems.ts");
    const conversions = convertersByDefinition(convertedKinds(SYSTEMS));
    const server = await createApiServer({ clock, random, log: quietLog, conversions });
    return { transport: () => server.transport(), outside: () => undefined, close: () => server.close() };
  },
  everyNth: 1,
};

/** Worlds of this process are played on another API than the embedded one from now on. */
export function playOn(other: Stage): void {
  stage = other;
}

/** An API with nothing in it but what every cluster has. */
export function beginApi(clock: VirtualClock, random: Random): Promise<WorldApi> {
  return stage.begin(clock, random);
}

/** Those of a row of like worlds that are played here: all, or on a slower server a sample. */
export function sampled<T>(row: readonly T[]): T[] {
  return row.filter((_, index) => index % stage.everyNth === 0);
}

/** The whole numbers from `first` to `last`. */
export function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
