import type { KubeObject } from "@slipway/kube";
import { FOLLOWED } from "../../../views/followed-kinds.ts";
import { ownerTree } from "../../../views/owner-tree.ts";
import { Actions } from "../parts/actions.tsx";
import { RolloutOf } from "../parts/rollout.tsx";
import { Tree } from "../parts/tree.tsx";
import { Denied, Empty, Section } from "../parts/words.tsx";
import { clusters, everything, pools } from "../rows.ts";

/** Pools and clusters with what they own, as trees, and how far their roll-outs are. */
export function PoolsPage() {
  const owned = new Set(everything.value.map(({ metadata }) => metadata.uid));
  const isTop = ({ metadata }: KubeObject): boolean => !metadata.ownerReferences?.some(({ uid }) => owned.has(uid));
  return (
    <>
      <h1>Pools and clusters</h1>
      <Denied kinds={FOLLOWED.filter(({ role }) => role === "pools" || role === "clusters").map(({ name }) => name)} />
      <Section title="Pools" count={pools.value.length}>
        {pools.value.length === 0 ? <Empty>No pools.</Empty> : null}
        {pools.value.filter(isTop).map((object) => (
          <Root key={object.metadata.uid} object={object} />
        ))}
      </Section>
      <Section title="Clusters" count={clusters.value.length}>
        {clusters.value.length === 0 ? <Empty>No clusters.</Empty> : null}
        {clusters.value.filter(isTop).map((object) => (
          <Root key={object.metadata.uid} object={object} />
        ))}
      </Section>
    </>
  );
}

function Root({ object }: { object: KubeObject }) {
  const tree = ownerTree(object, everything.value);
  return (
    <article class="card root">
      <Tree node={tree} />
      <RolloutOf object={object} />
      <Actions object={object} members={tree.children.map((child) => child.object)} />
    </article>
  );
}
