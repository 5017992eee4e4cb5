import { asFault } from "@slipway/base";
import { type Controller, setCondition, source } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import type { Accounts } from "../../machines/accounts.ts";
import { accountOf, type OwnAccount } from "./accounts.ts";

const LOOK_MS = 60_000;

/** Reports on each MachineProvider whether its account can be used, and how many machines of Slipway it holds. */
export function providerController(accounts: Accounts, own: OwnAccount, system: string): Controller {
  return {
    name: "machineprovider",
    system,
    sources: [
      source({
        resource: MachineProvider,
        when: (now, before) => now.metadata.generation !== before?.metadata.generation,
      }),
    ],
    access: [
      { resource: MachineProvider, verbs: ["get"] },
      { resource: MachineProvider, verbs: ["update"], subresource: "status" },
      { resource: Secret, verbs: ["get"], namespace: own.namespace },
    ],
    async reconcile(ref, { cache, client, clock, clean }) {
      const provider = cache.get(MachineProvider, ref);
      if (provider === undefined) return { done: true };
      const observedGeneration = provider.metadata.generation!;
      const account = accountOf({ providerRef: { name: ref.name } }, client, own);
      const report = async (
        ready: boolean,
        reason: string,
        message: string,
        machines = provider.status?.machines,
      ): Promise<void> => {
        const condition = {
          type: "Ready",
          status: ready ? ("True" as const) : ("False" as const),
          reason,
          message: clean(message),
          observedGeneration,
        };
        const conditions = setCondition(provider.status?.conditions, condition, clock.now());
        if (conditions === provider.status?.conditions && machines === provider.status?.machines) return;
        const status = { observedGeneration, conditions: [...conditions], ...(machines !== undefined && { machines }) };
        await client.updateStatus(MachineProvider, { ...provider, status });
      };
      try {
        const fleet = await accounts.fleet(account);
        const machines = await fleet.all(LOOK_MS);
        await report(
          true,
          "Usable",
          "the API accepts the credentials",
          machines.filter((m) => m.claim !== undefined).length,
        );
      } catch (error) {
        const fault = asFault(error, account.name);
        if (fault.code === "BadCredentials") accounts.refused(account.name);
        await report(false, fault.code, fault.advice);
      }
      return { againAfterMs: LOOK_MS };
    },
  };
}
