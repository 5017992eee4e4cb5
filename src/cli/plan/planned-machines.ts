/** The machines that objects come to: how many, in whose account, where, and at what price. */
import { asFault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import type { Accounts } from "../../machines/accounts.ts";
import type { Concern, MachineDriver, Placement, Price } from "../../machines/machine.ts";
import { SYSTEMS } from "../../operator/systems.ts";
import type { MachineWish, Made, Planning } from "../../systems/planning.ts";
import type { OwnAccount } from "../../systems/providers/accounts.ts";
import { boundedDepth, type ClusterAsPlanned, storedForm } from "./planned-cluster.ts";
import { idOf, type PlannedObject } from "./planned-objects.ts";

/** Equal machines of one object. */
export interface MachineGroup {
  /** The object that was applied. */
  of: string;
  /** After applying, and now. */
  count: number;
  before: number;
  /** Existing ones are replaced, since the object's template has changed. */
  replaced: boolean;
  account: string;
  /** The driver; unset: the account can't be read. */
  provider?: string;
  /** The preferred place first. */
  placements: readonly Placement[];
  spot?: { maxPrice?: string } | undefined;
  /** At the preferred place, on demand. */
  price?: Price;
  /** Machines that are there already and could serve. */
  candidates?: readonly string[];
  concerns: readonly PlacedConcern[];
  /** What could not be found out, and why. */
  unknown?: string;
}

/** A concern with the field of the manifest that it is about. */
export interface PlacedConcern extends Concern {
  path?: string;
  line?: number;
  on: string;
}

/** What an object brings about. */
export interface Outcome {
  object: PlannedObject;
  /** Objects that are made for it, by kind. */
  makes: ReadonlyMap<string, number>;
  machines: readonly MachineGroup[];
  unknown?: string;
}

export interface Look {
  cluster: ClusterAsPlanned;
  accounts: Accounts;
  own: OwnAccount;
  planned: readonly PlannedObject[];
}

const PLANNINGS: readonly Planning[] = SYSTEMS.flatMap(({ plans = [] }) => plans);

/** Follows an object down to its machines. */
export async function outcomeOf(object: PlannedObject, look: Look): Promise<Outcome> {
  const after = await followed(object.object, look);
  const before = object.before === undefined ? undefined : await followed(object.before, look);
  const already = before?.wishes.reduce((sum, { times }) => sum + times, 0) ?? 0;
  const groups = after.wishes.map((wish) => groupOf(object, wish, { already, look }));
  const machines = await Promise.all(groups);
  return { object, makes: after.makes, machines, ...(after.unknown !== undefined && { unknown: after.unknown }) };
}

interface Wish {
  wish: MachineWish;
  times: number;
  /** What its specification was copied from. */
  from: Made["from"] | undefined;
}

interface Followed {
  makes: Map<string, number>;
  wishes: Wish[];
  unknown: string | undefined;
}

async function followed(object: KubeObject, look: Look): Promise<Followed> {
  const all: Followed = { makes: new Map(), wishes: [], unknown: undefined };
  const follow = async (
    one: KubeObject,
    { times, from, depth }: { times: number; from: Made["from"]; depth: number },
  ) => {
    boundedDepth(depth, idOf(object));
    const effects = await planningOf(one)?.effects(storedForm(one), look.cluster, look.own);
    if (effects === undefined) return;
    all.unknown ??= effects.unknown;
    if (effects.machine !== undefined && times > 0) all.wishes.push({ wish: effects.machine, times, from });
    for (const made of effects.makes ?? []) look.cluster.add(made.object);
    for (const made of effects.makes ?? []) {
      const count = times * made.times;
      all.makes.set(made.object.kind, (all.makes.get(made.object.kind) ?? 0) + count);
      await follow(made.object, { times: count, from: made.from ?? from, depth: depth + 1 });
    }
  };
  await follow(object, { times: 1, from: undefined, depth: 0 });
  return all;
}

function planningOf({ apiVersion, kind }: KubeObject): Planning | undefined {
  const [group] = apiVersion.split("/");
  return PLANNINGS.find(({ kind: of }) => of.kind === kind && of.group === group);
}

async function groupOf(
  object: PlannedObject,
  { wish, times, from }: Wish,
  { already, look }: { already: number; look: Look },
): Promise<MachineGroup> {
  const { account, placements, spot, order } = wish;
  const [preferred] = placements;
  const base: MachineGroup = {
    ...{ of: idOf(object.object), count: times, before: already, replaced: already > 0 && isRolledOut(object) },
    ...{ account: account.name, placements, spot },
    concerns: wish.concerns.map((concern) => placed(concern, { object, from, look })),
  };
  let driver: MachineDriver;
  try {
    ({ driver } = await look.accounts.fleet(account));
  } catch (error) {
    return { ...base, unknown: asFault(error, account.name).advice };
  }
  const known = { ...base, provider: driver.type };
  if (preferred === undefined) return known;
  const trial = order(preferred);
  const concerns = [...wish.concerns, ...driver.check(trial)].map((one) => placed(one, { object, from, look }));
  try {
    const price = preferred.reservation ? undefined : await driver.priceOf?.(preferred);
    const candidates = await driver.candidates?.(trial);
    return { ...known, concerns, ...(price && { price }), ...(candidates && { candidates }) };
  } catch (error) {
    return { ...known, concerns, unknown: asFault(error, account.name).message };
  }
}

/** Whether the template that existing machines were made by is another one now. */
function isRolledOut({ object, before }: PlannedObject): boolean {
  const templateOf = (one: KubeObject | undefined) =>
    JSON.stringify((one as { spec?: { template?: { spec?: unknown } } })?.spec?.template?.spec);
  return templateOf(object) !== templateOf(before);
}

/** The field of a manifest for a field of the object that is copied from it. */
function placed(
  concern: Concern,
  { object, from, look }: { object: PlannedObject; from: Made["from"]; look: Look },
): PlacedConcern {
  const source =
    from === undefined
      ? object
      : look.planned.find(({ object: { kind, metadata } }) => kind === from.kind && metadata.name === from.name);
  const at = from?.at ? `${from.at}.` : "";
  const field = `${at}${concern.field}`;
  if (source === undefined) return { ...concern, field, on: `${from!.kind}/${from!.name}` };
  return { ...concern, field, on: idOf(source.object), path: source.path, line: source.places.lineOf(field) };
}
