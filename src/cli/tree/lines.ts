import { parseTime } from "@slipway/base";
import type { TreeNode } from "../../views/owner-tree.ts";
import { rowOf } from "../../views/row.ts";
import { since } from "../../views/since.ts";
import { doingOf, failureOf, summaryOf, waitOf, wordOf } from "../../views/standing.ts";
import { type Branch, drawnTree } from "../branches.ts";
import { table } from "../progress.ts";

/** Trees of objects in lines, each object with its state and the condition that sums it up. `now`: milliseconds since 1970. Pure. */
export function treeLines(trees: readonly TreeNode[], now: number, { wide = false } = {}): string[] {
  const rows = trees.flatMap((tree) => drawnTree(branchOf(tree, undefined, { now, wide })));
  const more = wide ? ["AGE", "ADDRESS", "MACHINE", "NODE", "VERSION"] : [];
  return table(["NAME", "STATE", "STATUS", "REASON", "SINCE", ...more, "MESSAGE"], rows);
}

function branchOf(
  { object, children }: TreeNode,
  namespaceAbove: string | undefined,
  look: { now: number; wide: boolean },
): Branch {
  const { namespace, name } = object.metadata;
  const place = namespace !== undefined && namespace !== namespaceAbove ? `${namespace}/` : "";
  const condition = summaryOf(object);
  const changed = parseTime(condition?.lastTransitionTime) ?? waitOf(object)?.since;
  const age = (at: number | undefined): string => (at === undefined ? "" : since(look.now - at));
  const { created, address = "", machine = "", node = "", version = "" } = rowOf(object);
  return {
    name: `${object.kind}/${place}${name}`,
    cells: [
      wordOf(object) ?? "",
      condition === undefined ? "" : `${condition.type}: ${condition.status}`,
      condition?.reason ?? failureOf(object)?.reason ?? "",
      age(changed),
      ...(look.wide ? [age(created), address, machine, node, version] : []),
      messageOf(object, condition?.status === "True"),
    ],
    children: children.map((child) => branchOf(child, namespace, look)),
  };
}

function messageOf(object: TreeNode["object"], isReady: boolean): string {
  if (object.metadata.deletionTimestamp !== undefined) return waitOf(object)?.for ?? "it is being deleted";
  if (waitOf(object) !== undefined) return doingOf(object);
  const failure = failureOf(object)?.message;
  if (failure) return failure;
  return isReady ? "" : (summaryOf(object)?.message ?? "");
}
