import { asFault } from "@slipway/base";
import { type Controller, DONE, StatusRecord, setCondition, source } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import type { Accounts } from "../../machines/accounts.ts";
import { accountOf, type OwnAccount } from "./accounts.ts";

const LOOK_MS = 60_000;
/** What is missing is being created, as a rule: often in the same `kubectl apply`. */
const MISSING_MS = 5_000;

/** Reports on each MachineProvider whether its account can be used, and how many machines of Slipway it holds. */
export function providerController(accounts: Accounts, own: OwnAccount, system: string): Controller {
  return {
    name: "machineprovider",
    system,
    sources: [
      source({
        resource: MachineProvider,
        when: (now, before) => now.metadata.generation !== before.metadata.generation,
      }),
    ],
    access: [
      { resource: MachineProvider, verbs: ["get"] },
      { resource: MachineProvider, verbs: ["update"], subresource: "status" },
      { resource: Secret, verbs: ["get"], namespace: own.namespace },
    ],
    async reconcile(ref, context) {
      const { cache, client, clock } = context;
      const provider = cache.get(MachineProvider, ref);
      if (provider === undefined) return DONE;
      const observedGeneration = provider.metadata.generation!;
      const account = accountOf({ providerRef: { name: ref.name } }, client, own);
      const record = new StatusRecord(context, MachineProvider, provider);
      const report = async (ready: boolean, reason: string, message: string, machines?: number): Promise<void> => {
        const status = ready ? ("True" as const) : ("False" as const);
        const condition = { type: "Ready", status, reason, message, observedGeneration };
        const conditions = [...setCondition(provider.status?.conditions, condition, clock.now())];
        await record.write({ observedGeneration, conditions, ...(machines !== undefined && { machines }) });
      };
      try {
        const fleet = await accounts.fleet(account);
        const machines = await fleet.all(fleet.restMs(LOOK_MS));
        const owned = machines.filter((machine) => machine.claim !== undefined).length;
        const isOwn = provider.spec.type === "inventory";
        await report(true, "Usable", isOwn ? "its hosts are known" : "the API accepts the credentials", owned);
      } catch (error) {
        const fault = asFault(error, account.name);
        if (fault.code === "BadCredentials") accounts.refused(account.name);
        await report(false, fault.code, fault.advice);
        if (fault.code === "MissingInput") return { againAfterMs: MISSING_MS };
      }
      return { againAfterMs: LOOK_MS };
    },
  };
}
