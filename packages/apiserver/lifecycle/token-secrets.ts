import type { AccountTokens } from "../auth/accounts/account-tokens.ts";
import type { Core } from "../core/call.ts";
import { copyJson } from "../json/value.ts";
import { textAt } from "../model/read.ts";
import type { Body } from "../model/served.ts";
import { rewrite } from "../verbs/update.ts";
import { deleteQuietly, ownCall, Work } from "./work.ts";

const SECRETS = "/secrets";
const ACCOUNTS = "/serviceaccounts";
const TYPE = "kubernetes.io/service-account-token";
const ACCOUNT_NAME = "kubernetes.io/service-account.name";
const ACCOUNT_UID = "kubernetes.io/service-account.uid";

/**
 * Fills the Secrets that ask for a token of a ServiceAccount, and deletes them when there is no such account (any more). `caPem`
 * goes in beside the token where it is known.
 */
export function tokenSecrets(core: Core, tokens: AccountTokens, caPem: string | undefined): { close(): Promise<void> } {
  const work = new Work<string>(core, "token secrets", (key) => settle(core, tokens, caPem, key));
  const stops = [
    core.store.listen(SECRETS, ({ key, object, type }) => {
      if (type !== "DELETED" && object.type === TYPE) work.add(key);
    }),
    core.store.listen(ACCOUNTS, ({ object, type }) => {
      if (type === "MODIFIED") return;
      const { name, namespace = "" } = object.metadata;
      for (const [key, secret] of core.store.collection(SECRETS).range(`${namespace}/`, ""))
        if (secret.type === TYPE && accountOf(secret) === name) work.add(key);
    }),
  ];
  for (const [key, secret] of core.store.collection(SECRETS).range("", "")) if (secret.type === TYPE) work.add(key);
  return {
    close: () => {
      for (const stop of stops) stop();
      return work.close();
    },
  };
}

function accountOf(secret: Body): string {
  return secret.metadata.annotations?.[ACCOUNT_NAME] ?? "";
}

async function settle(core: Core, tokens: AccountTokens, caPem: string | undefined, key: string): Promise<void> {
  const secret = core.store.get(SECRETS, key);
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return;
  const { name, namespace = "" } = secret.metadata;
  const resource = core.registry.find("", "v1", "secrets")!;
  const account = core.store.get(ACCOUNTS, `${namespace}/${accountOf(secret)}`);
  const uid = secret.metadata.annotations?.[ACCOUNT_UID] ?? "";
  if (account === undefined || (uid !== "" && uid !== account.metadata.uid))
    return await deleteQuietly(core, resource, secret, {});
  const missing = Object.entries({
    "ca.crt": caPem,
    namespace,
    token: textAt(secret, "data.token") === "" ? tokens.issueForSecret(account, secret) : undefined,
  }).filter(([field, value]) => value !== undefined && (secret.data as Body | undefined)?.[field] === undefined);
  if (missing.length === 0 && uid !== "") return;
  await rewrite(ownCall(core, resource, { namespace, name }), (live) => {
    const next = copyJson(live);
    next.metadata.annotations = { ...next.metadata.annotations, [ACCOUNT_UID]: account.metadata.uid };
    const filled = missing.map(([field, value]) => [field, Buffer.from(value!).toString("base64")]);
    next.data = { ...(next.data as object | undefined), ...Object.fromEntries(filled) };
    return next;
  });
}
