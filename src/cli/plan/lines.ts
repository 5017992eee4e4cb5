/** A plan as lines for a person, and as JSON for a program. Pure. */
import type { Placement } from "../../machines/machine.ts";
import { table } from "../progress.ts";
import type { MachineGroup, Outcome } from "./planned-machines.ts";
import { idOf, type Problem } from "./planned-objects.ts";

/** As providers count a month. */
const HOURS_A_MONTH = 730;
const DOLLARS = 2;

/** The objects, the machines, what they cost, and what may go wrong. */
export function planLines(outcomes: readonly Outcome[]): string[] {
  const groups = outcomes.flatMap(({ machines }) => machines);
  const notes = outcomes.flatMap(notesOf);
  return [
    ...table(["CHANGE", "OBJECT", "WHAT IT MAKES"], outcomes.map(objectRow)),
    "",
    ...(groups.length === 0 ? [] : [...table(MACHINE_HEADS, groups.map(machineRow)), ""]),
    totalLine(groups),
    ...(notes.length === 0 ? [] : ["", ...notes]),
  ];
}

/** What the API or a provider would refuse: `FILE:LINE: OBJECT: FIELD: MESSAGE`. */
export const problemLine = ({ path, line, on, field, message }: Problem): string =>
  `${path}:${line}: ${on}: ${field === undefined ? "" : `${field}: `}${message}`;

/** The concerns that a provider would refuse an order for. */
export const fatalConcerns = (outcomes: readonly Outcome[]): Problem[] =>
  outcomes.flatMap(({ object, machines }) =>
    machines.flatMap(({ concerns }) =>
      concerns
        .filter(({ fatal }) => fatal)
        .map(({ path = object.path, line = object.places.line, on, field, message }) => ({
          path,
          line,
          on,
          field,
          message,
        })),
    ),
  );

/** The same for a program. */
export function planDocument(outcomes: readonly Outcome[], problems: readonly Problem[]): object {
  const { hourly, unpriced, more } = totalOf(outcomes.flatMap(({ machines }) => machines));
  return {
    objects: outcomes.map(({ object: { object, change, path, places, unchecked }, makes, unknown }) => ({
      ...{ change, apiVersion: object.apiVersion, kind: object.kind },
      ...(object.metadata.namespace !== undefined && { namespace: object.metadata.namespace }),
      ...{ name: object.metadata.name, file: path, line: places.line, makes: Object.fromEntries(makes) },
      ...(unchecked !== undefined && { unchecked }),
      ...(unknown !== undefined && { unknown }),
    })),
    machines: outcomes.flatMap(({ machines }) => machines),
    total: { moreMachines: more, hourly, monthly: hourly * HOURS_A_MONTH, currency: "USD", withoutPrice: unpriced },
    problems,
  };
}

function objectRow({ object: { object, change }, makes }: Outcome): string[] {
  const made = [...makes].map(([kind, count]) => `${count} ${kind}`).join(", ");
  return [change, idOf(object), made];
}

const MACHINE_HEADS = ["MACHINES", "OF", "PROVIDER", "PLAN", "PLACE", "EACH", "IN ALL"];

function machineRow(group: MachineGroup): string[] {
  const { of, count, before, provider = "?", placements, price } = group;
  const [preferred] = placements;
  const machines = before === count || before === 0 ? String(count) : `${before} → ${count}`;
  const each = price === undefined ? priceless(group) : `${price.hourly.toFixed(DOLLARS)} ${price.currency}/h`;
  const all = price === undefined ? "" : `${(price.hourly * count).toFixed(DOLLARS)} ${price.currency}/h`;
  return [machines, of, provider, preferred?.plan ?? "", preferred === undefined ? "" : placeOf(preferred), each, all];
}

function priceless({ placements: [preferred], candidates }: MachineGroup): string {
  if (preferred?.reservation) return "reserved";
  return candidates === undefined ? "not known" : "own host";
}

const placeOf = ({ metro, facility, reservation }: Placement): string =>
  reservation ? `reservation ${reservation}` : (metro ?? facility?.join(", ") ?? "any");

function totalOf(groups: readonly MachineGroup[]): { more: number; hourly: number; unpriced: number } {
  const more = (group: MachineGroup): number => group.count - group.before;
  const costing = groups.filter(
    ({ candidates, placements: [first] }) => candidates === undefined && !first?.reservation,
  );
  return {
    more: groups.reduce((sum, group) => sum + more(group), 0),
    hourly: costing.reduce((sum, group) => sum + more(group) * (group.price?.hourly ?? 0), 0),
    unpriced: costing.filter(({ price }) => price === undefined).reduce((sum, group) => sum + more(group), 0),
  };
}

function totalLine(groups: readonly MachineGroup[]): string {
  const { more, hourly, unpriced } = totalOf(groups);
  if (more === 0) return "No machine more and none less.";
  const machines = `${Math.abs(more)} ${Math.abs(more) === 1 ? "machine" : "machines"} ${more > 0 ? "more" : "less"}`;
  const sum = Math.abs(hourly);
  const costs =
    sum === 0
      ? ""
      : `: ${sum.toFixed(DOLLARS)} USD an hour, ${(sum * HOURS_A_MONTH).toFixed(DOLLARS)} USD in a month of 730 hours`;
  const without = unpriced === 0 ? "" : `; the price of ${Math.abs(unpriced)} is not known`;
  return `${machines}${costs}${without}.`;
}

/** What a reader should know of an object beside its rows. */
function notesOf({ object, machines, unknown }: Outcome): string[] {
  const on = idOf(object.object);
  const say = (text: string): string => `${object.path}:${object.places.line}: ${on}: ${text}`;
  return [
    ...(object.unchecked === undefined ? [] : [say(`not checked by the API: ${object.unchecked}`)]),
    ...(unknown === undefined ? [] : [say(unknown)]),
    ...machines.flatMap((group) => groupNotes(group).map(say)),
    ...machines.flatMap(({ concerns }) =>
      concerns
        .filter(({ fatal }) => !fatal)
        .map(
          ({ path = object.path, line = object.places.line, on: of, field, message }) =>
            `${path}:${line}: ${of}: ${field}: ${message}`,
        ),
    ),
  ];
}

function groupNotes({ placements, candidates, count, spot, replaced, before, unknown }: MachineGroup): string[] {
  const others = placements.slice(1).map((one) => `${one.plan} at ${placeOf(one)}`);
  return [
    ...(replaced ? [`its template has changed: the ${before} machines that are there are replaced`] : []),
    ...(others.length === 0 ? [] : [`where there is no capacity: ${others.join(", then ")}`]),
    ...(spot === undefined ? [] : [spotNote(spot)]),
    ...(candidates === undefined ? [] : [candidatesNote(candidates, count)]),
    ...(unknown === undefined ? [] : [`not known: ${unknown}`]),
  ];
}

const spotNote = ({ maxPrice }: { maxPrice?: string }): string =>
  `on the spot market${maxPrice === undefined ? "" : `, at ${maxPrice} USD an hour at most`}; the price shown is that on demand`;

function candidatesNote(candidates: readonly string[], count: number): string {
  const names = candidates.length === 0 ? "no host is free" : `free hosts: ${candidates.slice(0, count).join(", ")}`;
  const short =
    candidates.length < count ? `; ${count - candidates.length} of ${count} machines have to wait for one` : "";
  return `${names}${short}`;
}
