import { FOLLOWED, followedByName } from "../../../views/followed-kinds.ts";
import { ownerTree } from "../../../views/owner-tree.ts";
import { Actions } from "../parts/actions.tsx";
import { EventsOf } from "../parts/events.tsx";
import { RolloutOf } from "../parts/rollout.tsx";
import { Standing } from "../parts/standing.tsx";
import { Tree } from "../parts/tree.tsx";
import { Denied, Empty, ObjectLink, Section, StateOf } from "../parts/words.tsx";
import { Yaml } from "../parts/yaml.tsx";
import { objectInPath, place } from "../router.ts";
import { everything } from "../rows.ts";
import { findObject, objectsOf, stateOfKind } from "../store.ts";
import { MachinePage } from "./machine.tsx";

/** The page of an object of any kind, by the path. */
export function ObjectPage() {
  const named = objectInPath(place.value.path);
  const object = named && findObject(named.kind, named.namespace, named.name);
  if (named === undefined || object === undefined) return <Missing kind={named?.kind ?? ""} name={named?.name ?? ""} />;
  if (followedByName(named.kind)?.role === "machines") return <MachinePage kind={named.kind} object={object} />;
  const tree = ownerTree(object, everything.value);
  const members = tree.children.map((child) => child.object);
  return (
    <>
      <Standing object={object} />
      <Actions object={object} members={members} />
      <RolloutOf object={object} />
      {members.length === 0 ? null : (
        <Section title="What it owns">
          <Tree node={tree} />
        </Section>
      )}
      <Section title="Events">
        <EventsOf objects={[object]} />
      </Section>
      <Section title="Object">
        <Yaml object={object} />
      </Section>
    </>
  );
}

function Missing({ kind, name }: { kind: string; name: string }) {
  const { state } = stateOfKind(kind);
  return (
    <>
      <h1>{name}</h1>
      <Denied kinds={[kind]} />
      <Empty>
        {state === "waiting" ? "Loading…" : `There is no such object: ${kind} ${name}. It may have been deleted.`}
      </Empty>
    </>
  );
}

/** All objects, by kind. */
export function ObjectsPage() {
  const kinds = FOLLOWED.filter(({ name }) => name !== "events" && objectsOf(name).value.length > 0);
  return (
    <>
      <h1>Objects</h1>
      <Denied kinds={FOLLOWED.map(({ name }) => name)} />
      {kinds.length === 0 ? <Empty>There are none.</Empty> : null}
      {kinds.map(({ name, kind }) => (
        <details key={name}>
          <summary>
            {kind} <small>{objectsOf(name).value.length}</small>
          </summary>
          <ul class="objects">
            {objectsOf(name)
              .value.slice(0, MOST)
              .map((object) => (
                <li key={object.metadata.uid}>
                  {object.metadata.namespace ?? ""} <ObjectLink object={object} /> <StateOf object={object} />
                </li>
              ))}
          </ul>
        </details>
      ))}
    </>
  );
}

const MOST = 500;
