import { type Condition, setCondition } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { type HostState, isWork, stateOf } from "./state.ts";

type Said = [type: string, isTrue: boolean, reason: string, message?: string];

/** The conditions of a host, as its status has them: the types that Metal3 knows. Pure; the very same list where nothing changes. */
export function hostConditions(host: BareMetalHost, now: number): Condition[] {
  const observedGeneration = host.metadata.generation ?? 0;
  let conditions = host.status?.conditions ?? [];
  for (const [type, isTrue, reason, message = ""] of said(host))
    conditions = setCondition(
      conditions,
      { type, status: isTrue ? "True" : "False", reason, message, observedGeneration },
      now,
    );
  return conditions;
}

function said(host: BareMetalHost): Said[] {
  const state = stateOf(host);
  const { operationalStatus = "", errorMessage = "", waitingFor } = host.status ?? {};
  const isHealthy = HEALTHY.includes(operationalStatus);
  const isManaged = !UNKNOWN.includes(state);
  const isProvisioned = state === "provisioned" || state === "externally provisioned";
  const isReady = isHealthy && (isProvisioned || state === "available") && isPowered(host) && waitingFor === undefined;
  const reason = reasonOf(state === "" ? "new" : state);
  const health = isHealthy ? "Healthy" : reasonOf(operationalStatus === "" ? "unknown" : operationalStatus);
  const missing = waitingFor ?? errorMessage;
  return [
    ["Manageable", isManaged, isManaged ? "Registered" : reason, isManaged ? "" : missing],
    ["AvailableForProvisioning", state === "available", reason],
    ["Provisioned", isProvisioned, reason],
    ["Progressing", isWork(state), reason, isWork(state) ? missing : ""],
    ["Healthy", isHealthy, health, isHealthy ? "" : errorMessage],
    ["Ready", isReady, isHealthy ? reason : health, isReady ? "" : missing],
  ];
}

const HEALTHY = ["OK", "servicing", "detached"];
const UNKNOWN: readonly HostState[] = ["", "unmanaged", "registering"];

/** Whether its power is as its specification has it. */
function isPowered({ spec, status }: BareMetalHost): boolean {
  return spec.online === status?.poweredOn || spec.disablePowerOff === true;
}

/** Words of a status as a reason has them: `powering off before delete` is `PoweringOffBeforeDelete`. */
export function reasonOf(words: string): string {
  return words.replace(/(?:^| )(\w)/g, (_, first: string) => first.toUpperCase());
}
