import type { ReadDocument } from "../files/document.ts";
import type { Told } from "./envelope.ts";

/** A request as who answers it reads it. */
export interface Asked {
  id: string;
  query: URLSearchParams;
  client: string;
  document(): ReadDocument;
}

export type Act = (asked: Asked) => Told | Promise<Told>;

/** By method and path: `DELETE /deployment/{id}`. */
export type Acts = Readonly<Record<string, Act>>;
