/** What a machine is given to become a Node: the Secret that its Machine's bootstrap provider has written, with the original's names filled in. */
import { Fault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { renderGoTemplate } from "../../bootstrap/go-template.ts";
import type { Cluster } from "../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../kinds/cluster-api/machine.ts";

/** Why names of the original are not given: user data can be read by whatever runs on the machine. */
const IN_THE_CLUSTER =
  "keys of the provider never get into user data; create the Secret in the workload cluster instead";
const REFUSED = {
  apiKey: IN_THE_CLUSTER,
  cpemConfig: IN_THE_CLUSTER,
  emlbID: "Equinix' load balancers have ended",
};

/** Rejects with a `Fault`: `MissingInput` where the Secret is not there, `Invalid` for a template that can't be filled in. */
export async function bootstrapData(client: Client, machine: Machine, cluster: Cluster): Promise<string> {
  const { namespace } = machine.metadata;
  const name = machine.spec.bootstrap.dataSecretName!;
  const on = `Secret/${namespace}/${name}`;
  const secret = await client.find(Secret, { namespace: namespace!, name });
  const value = secret?.data?.value;
  if (value === undefined)
    throw new Fault("MissingInput", on, secret ? "it has no key value" : "the bootstrap data's Secret does not exist", {
      remedy: "see the Machine's bootstrap object, which writes it",
    });
  const { host, port } = cluster.spec.controlPlaneEndpoint ?? {};
  const values = {
    kubernetesVersion: machine.spec.version ?? "",
    controlPlaneEndpoint: host ? `${host}:${port}` : "",
  };
  return renderGoTemplate(Buffer.from(value, "base64").toString("utf8"), { values, refused: REFUSED }, on);
}
