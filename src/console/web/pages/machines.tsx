import { computed, signal, useSignal } from "@preact/signals";
import { FOLLOWED } from "../../../views/followed-kinds.ts";
import { COLUMNS, type Column, searched, sortedBy } from "../../../views/machine-list.ts";
import { searchIsThere, useListKeys } from "../keys.ts";
import { type ListColumn, LongList } from "../parts/long-list.tsx";
import { Ago, Denied, ObjectLink, toneOf, Word } from "../parts/words.tsx";
import { go, pathOfObject, place } from "../router.ts";
import { type ListedMachine, machines } from "../rows.ts";

const ALL: readonly (ListColumn<ListedMachine> & { id: Column })[] = [
  { id: "name", head: "Name", grow: 3, cell: ({ object }) => <ObjectLink object={object} machine /> },
  { id: "kind", head: "Kind", grow: 2, cell: ({ kind }) => kind, wide: true },
  { id: "namespace", head: "Namespace", grow: 2, cell: ({ namespace }) => namespace, wide: true },
  {
    ...{ id: "state", head: "State", grow: 2 },
    cell: ({ state, ready, failure, waitsFor }) => (
      <Word tone={toneOf({ ready, failed: failure !== undefined, waits: waitsFor !== undefined })}>{state}</Word>
    ),
  },
  { id: "owner", head: "Owner", grow: 3, cell: ({ owner }) => owner, wide: true },
  { id: "provider", head: "Provider", grow: 2, cell: ({ provider }) => provider, wide: true },
  {
    id: "rack",
    head: "Rack",
    grow: 2,
    cell: ({ location: { site, rack } }) => [site, rack].filter(Boolean).join(" "),
    wide: true,
  },
  { id: "address", head: "Address", grow: 3, cell: ({ address, machine }) => address ?? machine, wide: true },
  { id: "node", head: "Node", grow: 2, cell: ({ node }) => node, wide: true },
  { id: "waits", head: "Waits for", grow: 4, cell: ({ waitsFor, failure }) => failure?.message ?? waitsFor },
  { id: "age", head: "Age", grow: 1, cell: ({ created }) => <Ago at={created} /> },
];

/** Columns that are shown; Name always is. */
const shown = signal<ReadonlySet<Column>>(
  new Set(["name", "kind", "state", "owner", "provider", "rack", "waits", "age"]),
);
const order = signal<{ by: Column; descending: boolean }>({ by: "name", descending: false });
const query = computed(() => place.value.query.get("q") ?? "");
const rows = computed(() => sortedBy(searched(machines.value, query.value), order.value.by, order.value.descending));

function search(text: string): void {
  go(text === "" ? "/machines" : `/machines?q=${encodeURIComponent(text)}`, { replace: true });
}

function sort(column: string): void {
  if (!Object.hasOwn(COLUMNS, column)) return;
  const by = column as Column;
  order.value = { by, descending: order.value.by === by && !order.value.descending };
}

/** Every machine of every driver, and every host, in one table. */
export function MachinesPage() {
  const current = useSignal(-1);
  const list = rows.value;
  const open = (row: ListedMachine | undefined): void => {
    if (row !== undefined) go(pathOfObject(row.object, "machines"));
  };
  useListKeys({
    move: (by) => {
      current.value = Math.min(rows.value.length - 1, Math.max(0, current.value + by));
    },
    open: () => open(rows.value[current.value]),
  });
  return (
    <div class="fill">
      <h1>Machines</h1>
      <Denied kinds={FOLLOWED.filter(({ role }) => role === "machines").map(({ name }) => name)} />
      <div class="bar-of-tools">
        <input
          ref={searchIsThere}
          type="search"
          class="search"
          aria-label="Search machines"
          placeholder="Search: words, state:ready, rack:r1, is:waiting, -kind:Machine"
          value={query.value}
          onInput={(event) => search(event.currentTarget.value)}
        />
        <Chips />
        <span role="status">
          {list.length === machines.value.length
            ? `${list.length} machines`
            : `${list.length} of ${machines.value.length} machines`}
        </span>
        <Columns />
      </div>
      <LongList<ListedMachine>
        label="Machines"
        columns={ALL.filter(({ id }) => shown.value.has(id))}
        rows={list}
        keyOf={({ uid }) => uid}
        sortedBy={order.value.by}
        descending={order.value.descending}
        onSort={sort}
        current={current.value}
        onOpen={open}
      />
    </div>
  );
}

const FILTERS = { Waiting: "is:waiting", Failed: "is:failed", Ready: "is:ready", Free: "is:free" } as const;

/** Filters that are used most, as buttons. */
function Chips() {
  const words = query.value.split(/\s+/).filter(Boolean);
  return (
    <span role="group" aria-label="Filters">
      {Object.entries(FILTERS).map(([label, word]) => {
        const isOn = words.includes(word);
        const next = isOn ? words.filter((one) => one !== word) : [...words, word];
        return (
          <button key={label} type="button" class="chip" aria-pressed={isOn} onClick={() => search(next.join(" "))}>
            {label}
          </button>
        );
      })}
    </span>
  );
}

function Columns() {
  return (
    <details class="columns">
      <summary>Columns</summary>
      <fieldset>
        <legend>Shown columns</legend>
        {ALL.slice(1).map(({ id, head }) => (
          <label key={id}>
            <input
              type="checkbox"
              checked={shown.value.has(id)}
              onChange={({ currentTarget: { checked } }) => {
                const others = [...shown.value].filter((one) => one !== id);
                shown.value = new Set(checked ? [...others, id] : others);
              }}
            />{" "}
            {head}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
