/** Requests to the console: the session, and the Kubernetes API with the user's own rights. */
import { signal } from "@preact/signals";
import type { AccessWish, ApiCall } from "../../views/actions/action.ts";

export interface SignIn {
  token: boolean;
  oidc: boolean;
}

export interface Session {
  user: string;
  groups?: readonly string[];
  csrf: string;
  signIn?: SignIn;
  features?: { serial?: boolean; logs?: boolean };
}

/** undefined: not asked yet; null: nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined);
export const signIn = signal<SignIn>({ token: true, oidc: false });

/** An answer that is no success, in the words of who refused. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Asks who is signed in. */
export async function loadSession(): Promise<void> {
  const answer = await fetch("/console/session", { headers: { accept: "application/json" } });
  const body = (await answer.json().catch(() => ({}))) as Partial<Session>;
  if (body.signIn) signIn.value = body.signIn;
  session.value = answer.ok ? (body as Session) : null;
}

/** Signs in; rejects with a `Refused`. */
export async function startSession(credentials: { token: string } | { kubeconfig: string }): Promise<void> {
  session.value = (await asked("/console/session", "POST", credentials)) as Session;
}

/** Signs out. */
export async function endSession(): Promise<void> {
  try {
    await asked("/console/session", "DELETE");
  } finally {
    session.value = null;
  }
}

/** Sends what an action does. Rejects with a `Refused` that has the API's words. */
export async function send({ method, path, body, contentType }: ApiCall): Promise<unknown> {
  return asked(`/console/k8s${path}`, method, body, contentType);
}

/** Reads from the Kubernetes API. */
export async function read(path: string): Promise<unknown> {
  return asked(`/console/k8s${path}`, "GET");
}

export interface Allowed {
  allowed: boolean;
  reason: string;
}

const answers = new Map<string, Promise<Allowed>>();

/** Whether the user may do it, as the API's authorizer says. Asked once for each wish of a session. */
export function mayI(wish: AccessWish): Promise<Allowed> {
  const key = JSON.stringify([session.value?.csrf, wish]);
  const known = answers.get(key);
  if (known !== undefined) return known;
  if (answers.size > 2_000) answers.clear();
  const answer = review(wish);
  answers.set(key, answer);
  return answer;
}

async function review(wish: AccessWish): Promise<Allowed> {
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: wish },
  };
  try {
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const made = (await send({ method: "POST", path, body })) as { status?: { allowed?: boolean; reason?: string } };
    const { allowed = false, reason = "" } = made.status ?? {};
    const what = wish.subresource === undefined ? wish.resource : `${wish.resource}/${wish.subresource}`;
    return { allowed, reason: reason || `your account may not ${wish.verb} ${what}` };
  } catch (error) {
    return { allowed: false, reason: (error as Error).message };
  }
}

async function asked(path: string, method: string, body?: object, contentType = "application/json"): Promise<unknown> {
  const answer = await fetch(path, {
    method,
    headers: {
      accept: "application/json",
      ...(method !== "GET" && { "x-slipway-csrf": session.peek()?.csrf ?? "" }),
      ...(body !== undefined && { "content-type": contentType }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    throw new Refused(0, `the console can't be reached: ${(cause as Error).message}`);
  });
  const text = await answer.text();
  const said = parsed(text);
  if (answer.ok) return said;
  if (answer.status === 401 && path !== "/console/session") session.value = null;
  throw new Refused(answer.status, messageIn(said) ?? (text || `${answer.status} ${answer.statusText}`));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messageIn(body: unknown): string | undefined {
  const { message } = (body ?? {}) as { message?: unknown };
  return typeof message === "string" && message !== "" ? message : undefined;
}
