import { parseTime } from "@slipway/base";
import type { Node } from "@slipway/kube/core";
import type { InfraMachine } from "./view.ts";

/** Seconds from a machine's power-on to each stage of its way to a Node; undefined: not known. */
export interface Stages {
  script: number | undefined;
  data: number | undefined;
  registered: number | undefined;
  ready: number | undefined;
}

/** When each stage was reached, by what the objects say (they know whole seconds). Pure. */
export function stagesOf(startedAt: number, machine: InfraMachine, node: Node | undefined): Stages {
  const since = (time: string | null | undefined): number | undefined => {
    const at = parseTime(time);
    return at === undefined ? undefined : Math.max(0, (at - startedAt) / 1000);
  };
  const ready = node?.status?.conditions?.find(({ type, status }) => type === "Ready" && status === "True");
  return {
    script: since(machine.status?.install?.scriptFetched),
    data: since(machine.status?.install?.configFetched),
    registered: since(node?.metadata.creationTimestamp),
    ready: since(ready?.lastTransitionTime),
  };
}

/** In a line. Pure. */
export function stagesLine(name: string, { script, data, registered, ready }: Stages): string {
  const at = (seconds: number | undefined): string => (seconds === undefined ? "?" : seconds.toFixed(0));
  const before = `script ${at(script)}, bootstrap data ${at(data)}, registered ${at(registered)}`;
  return `${name}: Ready ${at(ready)} s after power-on (${before})`;
}
