import { Fault, type HttpAnswer } from "@slipway/base";
import { carryOut, type Effect, type Span, type Work } from "../effect.ts";
import { at, type Body, linkAt, linksAt, textAt, textsAt } from "./body.ts";
import { change } from "./change.ts";
import type { RedfishConnection, Resource } from "./connection.ts";
import { messagesOf, refusal } from "./refusal.ts";
import { taskIn } from "./tasks.ts";

const MOST_SLOTS = 16;
/** Spellings of one order: the first, and one for each parameter that is asked for. */
const MOST_TRIES = 4;

/** Puts an image into the machine's CD slot; another one that is in is taken out first. */
export async function insertMedia(
  connection: RedfishConnection,
  system: Resource,
  url: string,
  span: Span,
): Promise<void> {
  const slots = await cdSlots(connection, system, span.signal);
  if (slots.some(({ body }) => isIn(body) && textAt(body, "Image") === url)) return;
  const slot = slots.find(({ body }) => !isIn(body)) ?? slots[0]!;
  const empty = isIn(slot.body) ? await eject(connection, slot, span) : slot;
  const effect: Effect = {
    on: connection.origin,
    what: "insert virtual media",
    seen: async (signal) => holds((await connection.get(slot.path, signal)).body, url),
  };
  await carryOut(span, effect, () => insert(connection, empty, url, span.signal));
}

/** Takes every image out of the machine's CD slots. */
export async function ejectMedia(connection: RedfishConnection, system: Resource, span: Span): Promise<void> {
  for (const slot of await cdSlots(connection, system, span.signal))
    if (isIn(slot.body)) await eject(connection, slot, span);
}

/** Slots that take CDs; those of the machine itself, or where it has none, of its manager. */
async function cdSlots(connection: RedfishConnection, system: Resource, signal: AbortSignal): Promise<Resource[]> {
  const collections = [linkAt(system.body, "VirtualMedia")];
  for (const manager of managersOf(system)) {
    if (collections[0] !== undefined) break;
    const { body } = await connection.get(connection.pathOf(manager), signal);
    collections.unshift(linkAt(body, "VirtualMedia"));
  }
  const slots: Resource[] = [];
  if (collections[0] !== undefined) {
    const { body } = await connection.get(connection.pathOf(collections[0]), signal);
    for (const link of linksAt(body, "Members").slice(0, MOST_SLOTS))
      slots.push(await connection.get(connection.pathOf(link), signal));
  }
  const cds = slots.filter(({ body }) =>
    (textsAt(body, "MediaTypes") ?? ["CD"]).some((type) => /^(CD|DVD)$/.test(type)),
  );
  if (cds.length > 0) return cds;
  throw new Fault("Unsupported", connection.origin, "the BMC has no virtual media for CDs", {
    remedy: "look whether its license has virtual media, or use an address that boots by PXE",
  });
}

/** The managers of a machine; older BMCs use the second name. */
export function managersOf({ body }: Resource): readonly string[] {
  const links = linksAt(body, "Links", "ManagedBy");
  return links.length > 0 ? links : linksAt(body, "Links", "Managers");
}

function isIn(body: Body): boolean {
  const inserted = at(body, "Inserted");
  return typeof inserted === "boolean" ? inserted : textAt(body, "Image") !== undefined;
}

/** The image is in. BMCs shorten its address, or show the name alone. */
function holds(body: Body, url: string): boolean {
  if (!isIn(body)) return false;
  const image = textAt(body, "Image");
  const name = new URL(url).pathname.split("/").at(-1)!;
  return image === undefined || image === url || (name !== "" && image.includes(name));
}

async function insert(
  connection: RedfishConnection,
  slot: Resource,
  url: string,
  signal: AbortSignal,
): Promise<Work | undefined> {
  const target = textAt(slot.body, "Actions", "#VirtualMedia.InsertMedia", "target");
  let body: Body = { Image: url };
  for (let tries = 1; target !== undefined; tries++) {
    const answer = await act(connection, target, body, signal);
    if (answer.status < 400) return taskIn(connection, answer);
    if (isMissing(answer)) break;
    const more = missing(answer, body, url);
    if (more === undefined || tries === MOST_TRIES) throw refusal(connection.origin, "insert virtual media", answer);
    body = { ...body, ...more };
  }
  // Before the actions there was only this (VirtualMedia 1.0), and some BMCs have it still.
  const spellings = [{ Image: url, Inserted: true, WriteProtected: true }, { Image: url }];
  return taskIn(connection, await change(connection, slot, spellings, signal));
}

/** A parameter that the BMC asks for, of those that have one sensible value; undefined: it asks for something else. */
function missing(answer: HttpAnswer, sent: Body, url: string): Body | undefined {
  const known: Body = {
    TransferProtocolType: url.startsWith("https:") ? "HTTPS" : "HTTP",
    TransferMethod: "Stream",
    Inserted: true,
    WriteProtected: true,
  };
  const { text } = messagesOf(answer);
  const name = Object.keys(known).find(
    (one) => !Object.hasOwn(sent, one) && (text.includes(one) || answer.body.includes(`/${one}"`)),
  );
  return name === undefined ? undefined : { [name]: known[name] };
}

/** Takes the image out and resolves with the slot as it is then. */
async function eject(connection: RedfishConnection, slot: Resource, span: Span): Promise<Resource> {
  let last = slot;
  const effect: Effect = {
    on: connection.origin,
    what: "eject virtual media",
    async seen(signal) {
      last = await connection.get(slot.path, signal);
      return !isIn(last.body);
    },
  };
  await carryOut(span, effect, () => takeOut(connection, slot, span.signal));
  return last;
}

async function takeOut(connection: RedfishConnection, slot: Resource, signal: AbortSignal): Promise<Work | undefined> {
  const target = textAt(slot.body, "Actions", "#VirtualMedia.EjectMedia", "target");
  if (target !== undefined) {
    let answer = await act(connection, target, {}, signal);
    // Some want no body at all.
    if (answer.status === 400 || answer.status === 415) answer = await act(connection, target, undefined, signal);
    if (answer.status < 400) return taskIn(connection, answer);
    if (!isMissing(answer)) throw refusal(connection.origin, "eject virtual media", answer);
  }
  const spellings = [{ Image: null, Inserted: false }, { Image: null }];
  return taskIn(connection, await change(connection, slot, spellings, signal));
}

function isMissing({ status }: HttpAnswer): boolean {
  return status === 404 || status === 405;
}

async function act(connection: RedfishConnection, target: string, body: Body | undefined, signal: AbortSignal) {
  const path = connection.pathOf(target);
  return await connection.ask({ method: "POST", path, ...(body !== undefined && { body }) }, signal);
}
