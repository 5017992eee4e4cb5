import { Fault, isFault } from "@slipway/base";
import type { Datastore, DatastoreOptions } from "../datastore.ts";
import { checkPlace, type Place } from "../place.ts";
import { type NatsSession, withNats } from "./session.ts";
import { copyStream } from "./snapshot.ts";

const DESCRIPTION = "Holds kine key/values";
/** What kine keeps by default (`revHistory`). */
const HISTORY = 10;
const DUPLICATES_NS = 120_000_000_000;

interface StreamInfo {
  config: { name: string; description?: string };
  state: { messages: number };
}

/**
 * Places in NATS: a bucket a tenant, which kine uses with the DataStore's own user, since users can't be made by a client. How many buckets
 * there may be is the account's to say. A bucket's description, which is kine's, says that it is one of ours.
 */
export class NatsDatastore implements Datastore {
  readonly driver = "NATS";
  readonly options: DatastoreOptions;

  constructor(options: DatastoreOptions) {
    this.options = options;
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.#with(signal, (session) => session.api("INFO"));
  }

  async ensure(place: Place, signal: AbortSignal): Promise<void> {
    checkPlace("NATS", place);
    await this.#with(signal, async (session) => {
      const info = await infoOf(session, place.schema);
      if (info === undefined) await session.api(`STREAM.CREATE.${streamOf(place.schema)}`, bucket(place.schema));
      else if (info.config.description !== DESCRIPTION)
        throw new Fault("AlreadyExists", `NATS: bucket ${place.schema}`, "it is there, and not as a tenant's", {
          remedy: "set another dataStoreSchema, or remove the bucket",
        });
    });
  }

  async remove(place: Place, signal: AbortSignal): Promise<string[]> {
    checkPlace("NATS", place);
    return this.#with(signal, async (session) => {
      const info = await infoOf(session, place.schema);
      if (info === undefined) return [];
      if (info.config.description !== DESCRIPTION) return [`bucket ${place.schema}: its description is not kine's`];
      await orAbsent(session.api(`STREAM.DELETE.${streamOf(place.schema)}`));
      return [];
    });
  }

  async places(signal: AbortSignal): Promise<string[]> {
    return this.#with(signal, async (session) => {
      const found: string[] = [];
      for (let offset = 0, total = 1; offset < total; ) {
        const answer = await session.api("STREAM.LIST", { offset });
        const streams = (answer.streams ?? []) as StreamInfo[];
        total = Number(answer.total);
        if (streams.length === 0) break;
        offset += streams.length;
        for (const { config } of streams)
          if (config.name.startsWith("KV_") && config.description === DESCRIPTION) found.push(config.name.slice(3));
      }
      return found.sort();
    });
  }

  async copy(place: Place, to: Datastore, progress: (done: number) => void, signal: AbortSignal): Promise<void> {
    checkPlace("NATS", place);
    if (!(to instanceof NatsDatastore))
      throw new Fault("Invalid", place.schema, `a bucket of NATS can't be copied to ${to.driver}`);
    await this.#with(signal, (from) =>
      withNats(to.options, signal, async (target) => {
        const info = await infoOf(target, place.schema);
        if (info !== undefined && info.state.messages > 0)
          throw new Fault("Conflict", `bucket ${place.schema}`, "there are keys in the server that it is copied to", {
            remedy: "remove the place there first",
          });
        // A stream comes back as a whole, with its numbers, where there is none.
        if (info !== undefined) await orAbsent(target.api(`STREAM.DELETE.${streamOf(place.schema)}`));
        await copyStream({ from, to: target, stream: streamOf(place.schema), progress });
      }),
    );
  }

  async count(place: Place, signal: AbortSignal): Promise<number> {
    checkPlace("NATS", place);
    return await this.#with(signal, async (session) => (await infoOf(session, place.schema))?.state.messages ?? 0);
  }

  async close(): Promise<void> {}

  #with<T>(signal: AbortSignal, work: (session: NatsSession) => Promise<T>): Promise<T> {
    return withNats(this.options, signal, work);
  }
}

function streamOf(schema: string): string {
  return `KV_${schema}`;
}

/** As kine's own client makes it: kine takes a bucket that is there only when nothing about it differs. */
function bucket(schema: string): object {
  return {
    ...{
      name: streamOf(schema),
      description: DESCRIPTION,
      subjects: [`$KV.${schema}.>`],
      storage: "file",
      retention: "limits",
    },
    ...{ max_msgs_per_subject: HISTORY, max_bytes: -1, max_age: 0, max_msg_size: -1, max_msgs: -1, max_consumers: -1 },
    ...{ num_replicas: 1, discard: "new", duplicate_window: DUPLICATES_NS },
    ...{ deny_delete: true, allow_rollup_hdrs: true, allow_direct: true },
  };
}

async function infoOf(session: NatsSession, schema: string): Promise<StreamInfo | undefined> {
  return (await orAbsent(session.api(`STREAM.INFO.${streamOf(schema)}`))) as StreamInfo | undefined;
}

async function orAbsent<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((error: unknown) => {
    if (isFault(error, "NotFound")) return undefined;
    throw error;
  });
}
