/** What MachineDeployments and MachineSets bring about, by the functions that the controllers make Machines with. */
import type { KubeObject } from "@slipway/kube";
import { LABELS } from "../../cluster-api/names.ts";
import type { ContractReference } from "../../kinds/cluster-api/fields.ts";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../kinds/cluster-api/machine-deployment.ts";
import { MachineSet } from "../../kinds/cluster-api/machine-set.ts";
import { type Made, notYetMade, type Planning } from "../planning.ts";
import { cloneOf, kindOfTemplate, machineOf } from "./machine-set/machine-template.ts";

/** A deployment has one set that has all Machines once nothing rolls. */
const machineDeployment: Planning = {
  kind: MachineDeployment,
  async effects(object) {
    const { metadata, spec } = object as MachineDeployment;
    const { name, namespace = "" } = metadata;
    const set = notYetMade(
      MachineSet,
      { name: `${name}-…`, namespace, labels: { [LABELS.deploymentName]: name } },
      { clusterName: spec.clusterName, replicas: spec.replicas ?? 1, selector: {}, template: spec.template },
    );
    return { makes: [{ object: set, times: 1 }] };
  },
};

/** The Machines of a set, each with the objects that are made of its templates. */
const machineSet: Planning = {
  kind: MachineSet,
  async effects(object, around) {
    const set = object as MachineSet;
    const { name, namespace = "" } = set.metadata;
    const times = set.spec.replicas ?? 1;
    const { infrastructureRef, bootstrap } = set.spec.template.spec;
    // One name for all of them: they are alike.
    const machineName = `${name}-…`;
    const made: Made[] = [];
    const missing: string[] = [];
    const add = async (reference: ContractReference): Promise<ContractReference> => {
      const template = await around.referenced(reference, namespace);
      if (template === undefined) missing.push(`${reference.kind} ${reference.name}`);
      else
        made.push({
          object: cloned(set, template, machineName),
          times,
          from: { ...fromOf(template), at: "spec.template" },
        });
      return { ...kindOfTemplate(reference), name: machineName };
    };
    const infrastructure = await add(infrastructureRef);
    const { configRef } = bootstrap;
    const config = configRef?.kind.endsWith("Template") ? await add(configRef) : configRef;
    const { metadata, spec } = machineOf(set, machineName, { infrastructureRef: infrastructure, configRef: config });
    return {
      makes: [{ object: notYetMade(Machine, metadata, spec), times }, ...made],
      ...(missing.length > 0 && { unknown: `there is no ${missing.join(" and no ")}` }),
    };
  },
};

const fromOf = ({ kind, metadata: { name } }: KubeObject) => ({ kind, name });

/** The object that a template becomes, as its Machine owns it. */
function cloned(set: MachineSet, template: KubeObject, name: string): KubeObject {
  const { metadata, spec } = cloneOf(set, template, name);
  const [group = "", version = ""] = template.apiVersion.split("/");
  const owner = { apiVersion: `${Machine.group}/${Machine.version}`, kind: Machine.kind, name, uid: "" };
  const kind = template.kind.replace(/Template$/, "");
  return notYetMade({ group, version, kind }, { ...metadata, name, ownerReferences: [owner] }, spec);
}

export const planning: readonly Planning[] = [machineDeployment, machineSet];
