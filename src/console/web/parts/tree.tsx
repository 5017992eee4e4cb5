import type { TreeNode } from "../../../views/owner-tree.ts";
import { doingOf, isReady } from "../../../views/standing.ts";
import { ObjectLink, StateOf } from "./words.tsx";

/** An object with what it owns and uses, as a nested list. */
export function Tree({ node }: { node: TreeNode }) {
  return (
    <ul class="tree">
      <Branch node={node} />
    </ul>
  );
}

function Branch({ node: { object, children } }: { node: TreeNode }) {
  return (
    <li>
      <span class="leaf">
        <small>{object.kind}</small> <ObjectLink object={object} /> <StateOf object={object} />{" "}
        {isReady(object) ? null : <span class="doing">{doingOf(object)}</span>}
      </span>
      {children.length === 0 ? null : (
        <ul>
          {children.map((child) => (
            <Branch key={child.object.metadata.uid} node={child} />
          ))}
        </ul>
      )}
    </li>
  );
}
