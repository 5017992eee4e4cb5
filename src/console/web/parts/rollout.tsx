import type { KubeObject } from "@slipway/kube";
import { rolloutOf } from "../../../views/rollout.ts";

/** How far a pool is with what it is to be. */
export function RolloutOf({ object }: { object: KubeObject }) {
  const rollout = rolloutOf(object);
  if (rollout === undefined) return null;
  const { wanted, upToDate, ready, drifted, isDone } = rollout;
  const { name } = object.metadata;
  return (
    <p class="rollout">
      <progress
        max={Math.max(1, wanted)}
        value={Math.min(upToDate, ready, wanted)}
        aria-label={`Roll-out of ${name}`}
      />{" "}
      {isDone ? `${ready} of ${wanted} ready` : `${upToDate} of ${wanted} up to date, ${ready} ready`}
      {drifted > 0 ? <b class="drift"> {drifted} drifted</b> : null}
    </p>
  );
}
