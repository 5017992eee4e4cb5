/** Bootstrap data that a Machine of v1alpha2 brings in its specification: moved into a Secret, and out of the object. */
import { Fault, isFault } from "@slipway/base";
import { type Client, ownerReference, refOf } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { LABELS, SECRET_TYPE } from "../../../cluster-api/names.ts";
import { Machine } from "../../../kinds/cluster-api/machine.ts";
import {
  inlineData,
  inlineSecretName,
  V1ALPHA2_FIELDS,
  withoutInlineData,
} from "../../../kinds/cluster-api/v1alpha2.ts";

/** The Machine without inline data: their Secret, which goes with the Machine, is written first. Rejects with `Refused` where another Secret has its name. */
export async function moveInlineData(client: Client, machine: Machine): Promise<Machine> {
  const data = inlineData(machine);
  if (data === undefined) return machine;
  const { namespace, name, resourceVersion, uid } = machine.metadata;
  const ref = { namespace: namespace!, name: inlineSecretName(name) };
  const content = {
    value: Buffer.from(data).toString("base64"),
    format: Buffer.from("cloud-config").toString("base64"),
  };
  try {
    await client.create(Secret, {
      metadata: {
        ...ref,
        labels: { [LABELS.clusterName]: machine.spec.clusterName },
        ownerReferences: [ownerReference(Machine, machine)],
      },
      type: SECRET_TYPE,
      data: content,
    });
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
    const held = await client.find(Secret, ref);
    if (held !== undefined && !held.metadata.ownerReferences?.some((owner) => owner.uid === uid))
      throw new Fault("Refused", `Secret/${namespace}/${ref.name}`, "it belongs to something else", {
        remedy: `delete it: Machine ${name} keeps its bootstrap data there`,
      });
    await client.patch(Secret, ref, { type: "merge", body: { data: content } });
  }
  const annotations = { [V1ALPHA2_FIELDS]: withoutInlineData(machine) };
  return await client.patch(Machine, refOf(machine), {
    type: "merge",
    body: { metadata: { resourceVersion, annotations } },
  });
}
