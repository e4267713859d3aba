//! Tabs that are never drawn: which pages work in them, and which need frames.

use std::sync::Arc;

use argiope_browser::Browser;
use argiope_browser::agent::{AgentSettings, PathStep};
use argiope_browser::tab::{Tab, TabError};
use argiope_explore::page::Kind;

use crate::real::{Place, settings};
use crate::tab::{click, serve};

/// When a page says that it needs to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    AtOnce,
    AfterClick,
}

use Needs::{AfterClick, AtOnce, Nothing};

const PAGES: &[(Needs, &str)] = &[
    (Nothing, "<button onclick='this.textContent = 1'>0</button>"),
    (
        Nothing,
        "<style>button { color: red }</style><button onclick='setTimeout(() => this.remove(), 300)'>0</button>",
    ),
    (Nothing, "<button onclick='requestAnimationFrame(() => this.textContent = 1)'>0</button>"),
    (Nothing, "<button onclick='fetch(\"/\").then(() => this.textContent = 1)'>0</button>"),
    (AtOnce, "<button>0</button><input autofocus>"),
    (AtOnce, "<button>0</button><img loading=lazy src=/image>"),
    (AtOnce, "<button>0</button><script>addEventListener('scroll', () => {})</script>"),
    (AtOnce, "<button>0</button><div onscroll='0'></div>"),
    (
        AtOnce,
        "<button>0</button><script>new IntersectionObserver(() => {}).observe(document.body)</script>",
    ),
    (
        AtOnce,
        "<button>0</button><script>new ResizeObserver(() => {}).observe(document.body)</script>",
    ),
    (AtOnce, "<button>0</button><script>document.fonts.ready.then(() => {})</script>"),
    (
        AtOnce,
        "<style>@keyframes k { to { left: 1px } } button { animation: k 1s infinite }</style><button>0</button>",
    ),
    (AtOnce, "<style>div { content-visibility: auto }</style><button>0</button><div>1</div>"),
    (
        AtOnce,
        "<style>.wide { transition: width 1s; width: 300px }</style><button onclick='this.className = \"wide\"'>0</button>",
    ),
    (AfterClick, "<button onclick='this.style.transition = \"width 1s\"'>0</button>"),
    (AfterClick, "<button onclick='this.animate({ opacity: 0 }, 500)'>0</button>"),
    (
        AfterClick,
        "<button onclick='document.querySelector(\"dialog\").showModal()'>0</button><dialog>1</dialog>",
    ),
    (
        AfterClick,
        "<button onclick='document.querySelector(\"details\").open = true'>0</button><details>1</details>",
    ),
    (
        AfterClick,
        "<button onclick='document.startViewTransition(() => this.textContent = 1)'>0</button>",
    ),
    (AfterClick, "<button onclick='new Image().decode().catch(() => {})'>0</button>"),
    (
        AfterClick,
        "<button onclick='document.body.append(Object.assign(document.createElement(\"input\"), { autofocus: true }))'>0</button>",
    ),
];

async fn undrawn(browser: &Arc<Browser>, url: &str) -> Tab {
    let agent = AgentSettings { frames: false, ..AgentSettings::new("s", url, "127.0.0.1") };
    Tab::open(browser.clone(), agent).await.unwrap()
}

async fn needs(browser: &Arc<Browser>, page: &'static str) -> Needs {
    let url = serve(page);
    let mut tab = undrawn(browser, &url).await;
    match tab.load(&url).await {
        Err(TabError::NeedsFrames) => return AtOnce,
        loaded => loaded.unwrap(),
    };
    let click = click(&mut tab).await;
    match tab.run(&[click]).await {
        Err(TabError::NeedsFrames) => AfterClick,
        ran => {
            assert!(ran.unwrap().settled, "{page}");
            Nothing
        }
    }
}

#[tokio::test]
async fn a_page_that_waits_to_be_drawn_says_so() {
    let place = Place::new("frames");
    let browser = Arc::new(Browser::launch(&settings(&place.0)).await.unwrap());
    assert!(
        browser.can_do_without_frames,
        "this test needs the headless shell; other browsers always draw"
    );
    for &(expected, page) in PAGES {
        assert_eq!(needs(&browser, page).await, expected, "{page}");
    }
}

#[tokio::test]
async fn real_clicks_reach_pages_that_are_not_drawn_and_a_pointer_that_only_moves_does_not() {
    const LISTENS: &str = "<button>0</button><script>
        document.querySelector('button').onclick = (event) => { if (event.isTrusted) event.target.textContent = 1; };
    </script>";
    let place = Place::new("real-clicks");
    let browser = Arc::new(Browser::launch(&settings(&place.0)).await.unwrap());
    let url = serve(LISTENS);
    let mut tab = undrawn(&browser, &url).await;
    let before = tab.load(&url).await.unwrap().raw;
    let click = click(&mut tab).await;
    assert_eq!(tab.run(std::slice::from_ref(&click)).await.unwrap().raw, before);
    let clicked = tab.run(&[PathStep { trusted: true, ..click.clone() }]).await.unwrap();
    assert_ne!(clicked.raw, before);
    let hover = PathStep { kind: Kind::Hover, trusted: true, ..click };
    assert_eq!(tab.run(&[hover]).await.unwrap_err(), TabError::NeedsFrames);
    assert!(tab.lacks_frames());
}
