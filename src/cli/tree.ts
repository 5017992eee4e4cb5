import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import type { TreeNode } from "../views/owner-tree.ts";
import { addListingOptions, type ListingOptions, selectedBy } from "./listing/options.ts";
import { printProblems, shown } from "./listing/print.ts";
import { printSheet, type Sheet, watchSheet } from "./listing/sheet.ts";
import { onCluster, type Reached } from "./on-cluster.ts";
import { secrets } from "./outgoing.ts";
import { followTrees } from "./tree/follow.ts";
import { treeLines } from "./tree/lines.ts";
import { readTrees } from "./tree/read.ts";
import { type Roots, rootsOf } from "./tree/roots.ts";
import type { Verb } from "./verb.ts";

/** `slipway tree`: objects of any system with all that they own. */
export const verb: Verb = (program) => {
  const command = program
    .command("tree")
    .description("Show an object of any system with what it owns and uses, and the condition that stands for each.")
    .argument("<object>", "KIND/NAME or KIND/NAMESPACE/NAME, or KIND for all of a kind; kinds as kubectl knows them");
  addListingOptions(command, {
    namespace:
      "namespace of the object; unset: the kubeconfig's, else default. With KIND alone: only of this one; unset: of all",
    about: "wide: more columns; name: KIND/NAMESPACE/NAME alone; unset: a tree in lines",
  })
    .addHelpText(
      "after",
      `
Below an object stands what it owns, and the hosts that are given to it. Selectors choose which objects of a KIND stand at the top; what is below
them is shown in any case. \`slipway describe cluster/NAME\` draws a Cluster by its roles instead, as clusterctl does.

Examples:
  slipway tree cluster/capi-quickstart
  slipway tree cluster/default/team-a --watch
  slipway tree tcp/team-a -n tenants -o wide
  slipway tree instancepool -l site=a
  slipway tree bmh/node-1 -o json`,
    )
    .action(async (text: string, options: ListingOptions) => {
      await onCluster(options, (cluster) => run(cluster, text, options));
    });
};

async function run(cluster: Reached, text: string, options: ListingOptions): Promise<void> {
  const { client, transport, namespace } = cluster;
  const roots = await rootsOf(transport, text, { usual: namespace, selected: selectedBy(options) });
  const { trees, problems } = await readTrees(client, roots);
  printProblems(problems);
  if (!options.watch) return printSheet(sheetOf(trees, roots), options.output);
  const following = await followTrees(roots, { client, clock, random, log });
  await watchSheet(following.begin, () => sheetOf(following.trees(), roots), options.output);
}

/** Trees in the formats of a listing. Of one object that is named its tree alone. */
function sheetOf(trees: readonly TreeNode[], { resource, name }: Roots): Sheet {
  const isOne = name !== undefined && trees.length === 1;
  const data = isOne ? treeDocument(trees[0]!) : { items: trees.map(treeDocument) };
  return {
    data,
    lines: (now, wide) =>
      trees.length === 0 ? [`There is no such ${resource.kind}.`] : treeLines(secrets.clean(trees), now, { wide }),
    document: () => data,
    names: () => trees.flatMap(namesIn),
  };
}

const treeDocument = ({ object, children }: TreeNode): object => ({
  object: shown(object),
  children: children.map(treeDocument),
});

function namesIn({ object, children }: TreeNode): string[] {
  return [nameOf(object), ...children.flatMap(namesIn)];
}

const nameOf = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  `${kind}/${namespace === undefined ? "" : `${namespace}/`}${name}`;
