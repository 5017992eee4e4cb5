import type { Impersonate } from "../auth/impersonation-headers.ts";
import type { Authorize } from "../core/authorize.ts";
import type { ServedResource } from "../model/served.ts";

/** What an embedded API seldom needs: a part that is passed to `createApiServer`. Those that there are: `extras.ts`. */
export interface Extra {
  /** Served besides the resources of the core. */
  readonly resources?: readonly ServedResource[];
  /** Lets users act as others. Without it a request that asks for it is refused. */
  impersonation?(authorize: Authorize): Impersonate;
  /** Encodes an OpenAPI v2 document for clients that take no JSON. Without it they are answered 406. */
  openApiV2Protobuf?(document: object): Uint8Array;
}
