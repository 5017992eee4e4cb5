/** The Secret with a machine's user data: contract BootstrapConfig of Cluster API. */
import { Fault } from "@slipway/base";
import { type Client, controllerReference, type Draft } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { nodeUserData } from "../../bootstrap/cloud-init/node-user-data.ts";
import { type JoinTerms, joinConfigurationText } from "../../bootstrap/kubeadm/join-configuration.ts";
import { LABELS, SECRET_TYPE } from "../../cluster-api/names.ts";
import { KubeadmConfig } from "../../kinds/kubeadm/kubeadm-config.ts";

interface SecretKey {
  secret: { name: string; key: string };
}

/** The user data of a worker. Reads what stands in Secrets. Rejects with `MissingInput` for one that is not there. */
export async function userDataOf(client: Client, config: KubeadmConfig, terms: JoinTerms): Promise<string> {
  const { spec } = config;
  const read = async (from: SecretKey, what: string): Promise<string> => {
    const { name, key } = from.secret;
    const found = (await client.find(Secret, { namespace: config.metadata.namespace!, name }))?.data?.[key];
    if (found !== undefined) return Buffer.from(found, "base64").toString("utf8");
    throw new Fault(
      "MissingInput",
      `KubeadmConfig/${config.metadata.name}`,
      `${what}: Secret ${name} has no key ${key}`,
      {
        remedy: "create the Secret in the same namespace",
      },
    );
  };
  const files = await Promise.all(
    (spec.files ?? []).map(async ({ contentFrom, contentFormat: _, ...file }) =>
      contentFrom === undefined ? file : { ...file, content: await read(contentFrom, `content of ${file.path}`) },
    ),
  );
  const users = await Promise.all(
    (spec.users ?? []).map(async ({ passwdFrom, ...user }) =>
      passwdFrom === undefined ? user : { ...user, passwd: await read(passwdFrom, `password of ${user.name}`) },
    ),
  );
  const { ntp, diskSetup, mounts, bootCommands, verbosity, preKubeadmCommands = [], postKubeadmCommands = [] } = spec;
  return nodeUserData({
    ...{ ntp, diskSetup, mounts, bootCommands, verbosity, preKubeadmCommands, postKubeadmCommands, files, users },
    joinConfiguration: joinConfigurationText(spec.joinConfiguration ?? {}, terms),
  });
}

/** The Secret as it is created. */
export function dataSecret(config: KubeadmConfig, cluster: string, userData: string): Draft<Secret> {
  const { name, namespace } = config.metadata;
  const encoded = (text: string): string => Buffer.from(text).toString("base64");
  return {
    metadata: {
      name,
      namespace: namespace!,
      labels: { [LABELS.clusterName]: cluster },
      ownerReferences: [controllerReference(KubeadmConfig, config)],
    },
    type: SECRET_TYPE,
    data: { value: encoded(userData), format: encoded("cloud-config") },
  } as Draft<Secret>;
}
