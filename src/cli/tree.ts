import { systemClock as clock, Fault } from "@slipway/base";
import { type Client, type KubeObject, metadataOf, type Ref, type Resource, type Transport } from "@slipway/kube";
import { Deployment, Pod, Service } from "@slipway/kube/core";
import { Option } from "commander";
import { SYSTEMS } from "../operator/systems.ts";
import { ownerTree, type TreeNode } from "../views/owner-tree.ts";
import { type NamedObject, namedObject, type ServedKind, servedKinds } from "./listing/kinds.ts";
import { addClusterOptions } from "./listing/options.ts";
import { documentOf, shown } from "./listing/print.ts";
import { objectsIn, readObjects } from "./listing/read.ts";
import { onCluster } from "./on-cluster.ts";
import { say, secrets } from "./outgoing.ts";
import { treeLines } from "./tree-lines.ts";
import type { Verb } from "./verb.ts";

interface TreeOptions {
  namespace?: string;
  output?: "json" | "yaml" | "name";
  kubeconfig?: string;
  context?: string;
}

/** `slipway tree`: an object of any system with all that it owns. */
export const verb: Verb = (program) => {
  const command = program
    .command("tree")
    .description("Show an object of any system with what it owns and uses, and the condition that stands for each.")
    .argument("<object>", "KIND/NAME or KIND/NAMESPACE/NAME; kinds as kubectl knows them")
    .option("-n, --namespace <namespace>", "namespace of the object; unset: the kubeconfig's, else default")
    .addOption(new Option("-o, --output <format>", "unset: a tree in lines").choices(["json", "yaml", "name"]));
  addClusterOptions(command)
    .addHelpText(
      "after",
      `
Below an object stands what it owns, and the hosts that are given to it. \`slipway describe cluster/NAME\` draws a Cluster by its roles instead,
as clusterctl does.

Examples:
  slipway tree cluster/capi-quickstart
  slipway tree cluster/default/team-a
  slipway tree tcp/team-a -n tenants
  slipway tree bmh/node-1 -o json`,
    )
    .action(async (text: string, options: TreeOptions) => {
      await onCluster(options, async ({ client, transport, namespace: usual }) => {
        print(await readTree({ client, transport }, text, options.namespace ?? usual), options.output);
      });
    });
};

function print(tree: TreeNode, output: TreeOptions["output"]): void {
  if (output === "name") for (const line of namesIn(tree)) say(line);
  else if (output !== undefined) console.log(documentOf(treeDocument(tree), output));
  else for (const line of treeLines(secrets.clean(tree), clock.now())) say(line);
}

/** Objects of Kubernetes' own kinds that systems make. */
const BUILT_IN: readonly Resource<KubeObject>[] = [Deployment, Service, Pod].map(metadataOf);

/** Reads the object and what may be below it. Rejects with `NotFound` where there is no such object. */
async function readTree(
  { client, transport }: { client: Client; transport: Transport },
  text: string,
  namespace: string,
): Promise<TreeNode> {
  const served = await servedKinds(transport, SYSTEMS);
  const named = namedObject(text, { served, systems: SYSTEMS, namespace });
  const root = await rootOf(client, named);
  const [read, builtIn] = await Promise.all([readObjects(client, served), builtInObjects(client, named)]);
  return ownerTree(root, [...objectsIn(read), ...builtIn]);
}

async function rootOf(client: Client, { resource, namespace, name }: NamedObject): Promise<KubeObject> {
  const ref: Ref = { name, ...(namespace !== undefined && { namespace }) };
  const found = await client.find(resource, ref);
  if (found !== undefined) return found;
  const place = namespace === undefined ? name : `${namespace}/${name}`;
  throw new Fault("NotFound", `${resource.kind}/${place}`, "there is no such object", {
    remedy: `see kubectl get ${(resource as ServedKind["kind"]).plural}${namespace === undefined ? "" : " -A"}`,
  });
}

/** Only of the object's own namespace: a cluster has many Pods. What may not be read is left out. */
async function builtInObjects(client: Client, { namespace }: NamedObject): Promise<KubeObject[]> {
  if (namespace === undefined) return [];
  const lists = await Promise.all(
    BUILT_IN.map(async (resource) => {
      const { items } = await client.list(resource, { namespace }).catch(() => ({ items: [] }));
      const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
      return items.map((item) => ({ ...item, apiVersion, kind: resource.kind }));
    }),
  );
  return lists.flat();
}

const treeDocument = ({ object, children }: TreeNode): object => ({
  object: shown(object),
  children: children.map(treeDocument),
});

function namesIn({ object, children }: TreeNode): string[] {
  const { namespace, name } = object.metadata;
  return [`${object.kind}/${namespace === undefined ? "" : `${namespace}/`}${name}`, ...children.flatMap(namesIn)];
}
