import { computed } from "@preact/signals";
import { racksOf } from "../../../views/location.ts";
import { Denied, Empty, ObjectLink, StateOf } from "../parts/words.tsx";
import { machines } from "../rows.ts";

const HOSTS = "baremetalhosts.metal3.io";
const racks = computed(() => racksOf(machines.value.filter(({ kind }) => kind === "BareMetalHost")));

/** Hosts as they stand in racks, by their labels. */
export function RackPage() {
  return (
    <>
      <h1>Racks</h1>
      <Denied kinds={[HOSTS]} />
      {racks.value.length === 0 ? <Empty>No hosts.</Empty> : null}
      <div class="racks">
        {racks.value.map(({ site, rack, members }) => (
          <section key={`${site} ${rack}`} class="rack" aria-label={rack === "" ? "Without a rack" : `Rack ${rack}`}>
            <h2>
              {rack === "" ? "Without a rack" : rack} <small>{site}</small>
            </h2>
            {rack === "" ? (
              <p class="dim">Label hosts with topology.kubernetes.io/rack, and unit for their height.</p>
            ) : null}
            <ol>
              {members.map(({ member, unit }) => (
                <li key={member.uid} class="slot">
                  <span class="unit">{unit === undefined ? "" : `U${unit}`}</span>{" "}
                  <ObjectLink object={member.object} machine /> <StateOf object={member.object} />
                </li>
              ))}
            </ol>
          </section>
        ))}
      </div>
    </>
  );
}
