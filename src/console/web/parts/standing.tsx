import type { KubeObject } from "@slipway/kube";
import { driftOf } from "../../../views/rollout.ts";
import { rowOf } from "../../../views/row.ts";
import { doingOf, failureOf } from "../../../views/standing.ts";
import { Ago, StateOf } from "./words.tsx";

/** The head of an object's page: what it is and how it stands. */
export function Standing({ object }: { object: KubeObject }) {
  const { namespace, name } = object.metadata;
  const { owner, address, node, version, created } = rowOf(object);
  const failure = failureOf(object);
  const drift = driftOf(object);
  const more = [owner && `of ${owner}`, address, node && `Node ${node}`, version].filter(Boolean).join(" · ");
  return (
    <header>
      <p class="kind">
        {object.kind} {namespace === undefined ? "" : `in ${namespace}`}
      </p>
      <h1>{name}</h1>
      <p>
        <StateOf object={object} /> {doingOf(object)}
      </p>
      <p class="dim">
        {more} {more === "" ? "" : "·"} <Ago at={created} /> old
      </p>
      {failure === undefined ? null : (
        <p class="refusal">
          {failure.reason}: {failure.message}
        </p>
      )}
      {drift.length === 0 ? null : <p class="notice">Differs from its pool in: {drift.join(", ")}</p>}
    </header>
  );
}
