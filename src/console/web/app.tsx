import { useEffect } from "preact/hooks";
import { endSession, session } from "./api.ts";
import { follow, live } from "./feed.ts";
import { helpIsOpen, PAGES } from "./keys.ts";
import { MachinesPage } from "./pages/machines.tsx";
import { NetworkPage } from "./pages/network.tsx";
import { ObjectPage, ObjectsPage } from "./pages/object.tsx";
import { OverviewPage } from "./pages/overview.tsx";
import { PoolsPage } from "./pages/pools.tsx";
import { RackPage } from "./pages/rack.tsx";
import { SignInPage } from "./pages/sign-in.tsx";
import { TenantsPage } from "./pages/tenants.tsx";
import { Help } from "./parts/help.tsx";
import { Empty, Word } from "./parts/words.tsx";
import { place } from "./router.ts";
import { forgetAll } from "./store.ts";

/** The whole page: sign-in, or the console of who is signed in. */
export function App() {
  if (session.value === undefined) return <main tabIndex={-1}>Loading…</main>;
  return session.value === null ? <SignInPage /> : <SignedIn key={session.value.csrf} user={session.value.user} />;
}

function SignedIn({ user }: { user: string }) {
  useEffect(() => {
    const over = new AbortController();
    follow(over.signal);
    return () => {
      over.abort();
      forgetAll();
    };
  }, []);
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <TopBar user={user} />
      <main id="main" tabIndex={-1}>
        <Page />
      </main>
      <Help />
    </>
  );
}

const TONES = { live: "good", connecting: "busy", lost: "bad" } as const;
const WORDS = { live: "live", connecting: "connecting", lost: "connection lost, trying again" } as const;

function TopBar({ user }: { user: string }) {
  const { path } = place.value;
  return (
    <header class="top">
      <a href="/" class="brand">
        Slipway
      </a>
      <nav aria-label="Pages">
        {PAGES.map(({ path: to, name }) => (
          <a key={to} href={to} aria-current={isAt(path, to) ? "page" : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <span class="session">
        <span role="status">
          <Word tone={TONES[live.value]}>{WORDS[live.value]}</Word>
        </span>
        <button
          type="button"
          class="plain"
          aria-label="Keys"
          onClick={() => {
            helpIsOpen.value = true;
          }}
        >
          ?
        </button>
        <span class="user" title={user}>
          {user}
        </span>
        <button type="button" class="plain" onClick={() => void endSession().catch(() => undefined)}>
          Sign out
        </button>
      </span>
    </header>
  );
}

const isAt = (path: string, page: string): boolean =>
  page === "/" ? path === "/" : path === page || path.startsWith(`${page}/`);

function Page() {
  const { path } = place.value;
  if (/^\/(object|machines)\/./.test(path)) return <ObjectPage key={path} />;
  switch (path) {
    case "/":
      return <OverviewPage />;
    case "/machines":
      return <MachinesPage />;
    case "/pools":
      return <PoolsPage />;
    case "/network":
      return <NetworkPage />;
    case "/rack":
      return <RackPage />;
    case "/tenants":
      return <TenantsPage />;
    case "/objects":
      return <ObjectsPage />;
    default:
      return (
        <>
          <h1>No such page</h1>
          <Empty>
            <a href="/">To the overview</a>
          </Empty>
        </>
      );
  }
}
