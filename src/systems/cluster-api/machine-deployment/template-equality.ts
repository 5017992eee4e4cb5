import { isDeepStrictEqual } from "node:util";
import type { ContractReference } from "../../../kinds/cluster-api/fields.ts";
import type { MachineSpec } from "../../../kinds/cluster-api/machine.ts";

const referenceOf = (ref: ContractReference | undefined) => ref && [ref.apiGroup, ref.kind, ref.name];

/** What of a template can't change on a Machine that exists. */
function essence({ clusterName, version, failureDomain, providerID, bootstrap, infrastructureRef }: MachineSpec) {
  return {
    ...{ clusterName, version, failureDomain, providerID },
    config: referenceOf(bootstrap.configRef),
    data: bootstrap.configRef === undefined ? bootstrap.dataSecretName : undefined,
    infrastructure: referenceOf(infrastructureRef),
  };
}

/** Whether two templates of Machines make the same Machines: what reaches Machines in place counts for nothing. Pure. */
export const makeSameMachines = (a: MachineSpec, b: MachineSpec): boolean => isDeepStrictEqual(essence(a), essence(b));

/** In which fields they differ, as a message lists them. */
export function differencesOf(current: MachineSpec, wanted: MachineSpec): string[] {
  const [is, should] = [essence(current), essence(wanted)];
  const said: [string, unknown, unknown][] = [
    ["Version", is.version, should.version],
    ["Failure domain", is.failureDomain, should.failureDomain],
    ["BootstrapConfig", [is.config, is.data], [should.config, should.data]],
    ["InfrastructureMachine", is.infrastructure, should.infrastructure],
  ];
  return said.flatMap(([name, a, b]) => {
    if (isDeepStrictEqual(a, b)) return [];
    return [
      typeof a === "string" && typeof b === "string" ? `* ${name} ${a}, ${b} required` : `* ${name} is not up-to-date`,
    ];
  });
}
