import { parseTime } from "@slipway/base";
import type { TreeNode } from "../views/owner-tree.ts";
import { since } from "../views/since.ts";
import { doingOf, failureOf, summaryOf, waitOf, wordOf } from "../views/standing.ts";
import { type Branch, drawnTree } from "./branches.ts";
import { table } from "./progress.ts";

const HEADS = ["NAME", "STATE", "STATUS", "REASON", "SINCE", "MESSAGE"];

/** A tree of objects in lines, each with its state and the condition that sums it up. `now`: milliseconds since 1970. Pure. */
export function treeLines(tree: TreeNode, now: number): string[] {
  return table(HEADS, drawnTree(branchOf(tree, undefined, now)));
}

function branchOf({ object, children }: TreeNode, namespaceAbove: string | undefined, now: number): Branch {
  const { namespace, name } = object.metadata;
  const place = namespace !== undefined && namespace !== namespaceAbove ? `${namespace}/` : "";
  const condition = summaryOf(object);
  const changed = parseTime(condition?.lastTransitionTime) ?? waitOf(object)?.since;
  return {
    name: `${object.kind}/${place}${name}`,
    cells: [
      wordOf(object) ?? "",
      condition === undefined ? "" : `${condition.type}: ${condition.status}`,
      condition?.reason ?? failureOf(object)?.reason ?? "",
      changed === undefined ? "" : since(now - changed),
      messageOf(object, condition?.status === "True"),
    ],
    children: children.map((child) => branchOf(child, namespace, now)),
  };
}

function messageOf(object: TreeNode["object"], isReady: boolean): string {
  if (object.metadata.deletionTimestamp !== undefined) return waitOf(object)?.for ?? "it is being deleted";
  if (waitOf(object) !== undefined) return doingOf(object);
  const failure = failureOf(object)?.message;
  if (failure) return failure;
  return isReady ? "" : (summaryOf(object)?.message ?? "");
}
