use std::collections::BTreeSet;

use super::{Brakes, Danger};
use crate::accessible::AccessiblePage;
use crate::identity::text_page::page;

fn by_name(name: &str) -> Option<Danger> {
    Brakes::default().danger([name], [], [])
}

fn by_link(address: &str) -> Option<Danger> {
    Brakes::default().danger([], [address], [])
}

#[test]
fn names_that_are_dangerous() {
    use Danger::{DeleteAccount, DeleteAll, LogOut, Pay, Restart, ShutDown};
    let table: &[(Danger, &[&str])] = &[
        (
            LogOut,
            &[
                "Log out",
                "LOGOUT",
                "Sign out",
                "Log out (ada)",
                "Ada: sign out",
                "⏻ Log off",
                "Log out of all devices",
                "Sign off",
                "exit_to_app logout",
                "Abmelden",
                "Ausloggen",
                "Se déconnecter",
                "Déconnexion",
                "Cerrar sesión",
                "Salir",
                "Esci",
                "Disconnetti",
                "Sair",
                "Terminar sessão",
                "Uitloggen",
                "Afmelden",
                "Wyloguj się",
                "Выйти",
                "Выйти из системы",
                "退出登录",
                "登出",
                "ログアウト",
            ],
        ),
        (
            ShutDown,
            &[
                "Shut down",
                "Shutdown now",
                "Power off",
                "Stop the server",
                "Quit",
                "Stop server",
                "Turn off computer",
                "Herunterfahren",
                "Server beenden",
                "Éteindre",
                "Arrêter le serveur",
                "Apagar",
                "Apagar el servidor",
                "Spegni",
                "Arresta il sistema",
                "Desligar",
                "Systeem afsluiten",
                "Zamknij system",
                "Выключить",
                "Завершение работы",
                "关机",
                "シャットダウン",
            ],
        ),
        (
            Restart,
            &[
                "Restart",
                "Reboot",
                "Restart server",
                "Restart the application",
                "Restart now",
                "Neu starten",
                "Server neu starten",
                "Redémarrer",
                "Reiniciar",
                "Riavvia il server",
                "Herstarten",
                "Uruchom ponownie",
                "Перезагрузить",
                "重启",
                "再起動",
                "Factory reset",
            ],
        ),
        (
            DeleteAll,
            &[
                "Delete all",
                "Delete all 12 messages",
                "Remove everything",
                "Empty trash",
                "Alle löschen",
                "Alle Nachrichten löschen",
                "Alles löschen",
                "Tout supprimer",
                "Eliminar todo",
                "Borrar todos",
                "Elimina tutto",
                "Excluir tudo",
                "Apagar tudo",
                "Alles verwijderen",
                "Alle berichten verwijderen",
                "Usuń wszystko",
                "Удалить всё",
                "Удалить все",
                "全部删除",
                "すべて削除",
            ],
        ),
        (
            DeleteAccount,
            &[
                "Delete account",
                "Delete my account",
                "Close account",
                "Konto löschen",
                "Konto endgültig löschen",
                "Supprimer mon compte",
                "Eliminar cuenta",
                "Elimina account",
                "Elimina l’account",
                "Excluir conta",
                "Account verwijderen",
                "Usuń konto",
                "Удалить аккаунт",
                "删除账号",
                "アカウントを削除",
            ],
        ),
        (
            Pay,
            &[
                "Pay",
                "Pay now",
                "Pay €12.50",
                "Pay 12 EUR",
                "Pay with card",
                "Buy now",
                "Place order",
                "Jetzt kaufen",
                "Zahlungspflichtig bestellen",
                "Payer",
                "Pagar",
                "Paga ora",
                "Betalen",
                "Zapłać",
                "Оплатить",
                "立即支付",
                "購入する",
            ],
        ),
    ];
    for (danger, names) in table {
        for name in *names {
            assert_eq!(by_name(name), Some(*danger), "{name}");
        }
    }
}

#[test]
fn names_that_are_not() {
    let names = [
        "",
        "Delete",
        "Delete row 3",
        "Delete selected",
        "Remove",
        "Remove filter",
        "Clear",
        "Clear all",
        "Restart tour",
        "Restart game",
        "Restart quiz",
        "Pay attention",
        "Payments",
        "Payment methods",
        "Payroll",
        "Logs",
        "Log",
        "Login",
        "Log in",
        "Sign in",
        "Sign up",
        "Sign the form",
        "How to log out",
        "Logout settings",
        "Shutdown schedule",
        "Power",
        "Power settings",
        "Account",
        "Accounts",
        "Create account",
        "All",
        "Select all",
        "Show all",
        "Order",
        "Orders",
        "Sort order",
        "Stop",
        "Stop recording",
        "Exit full screen",
        "Close",
        "Cancel",
        "Reset",
        "Reset filters",
        "Turn off the lights",
        "Blog output",
        "Catalogout",
        "Anmelden",
        "Löschen",
        "Alle anzeigen",
        "Supprimer",
        "Tout sélectionner",
        "Eliminar",
        "Elimina",
        "Apagar linha",
        "Verwijderen",
        "Usuń",
        "Удалить",
        "删除",
        "登录",
        "削除",
        "Restart tour guide",
        "Pay gap report",
        "Server",
        "Now",
        "Application",
        "If you log out now, your draft is kept for seven days on this device",
    ];
    for name in names {
        assert_eq!(by_name(name), None, "{name}");
    }
}

#[test]
fn addresses_that_are_dangerous_and_addresses_that_are_not() {
    let dangerous = [
        ("/logout", Danger::LogOut),
        ("https://host/accounts/logout/?next=/", Danger::LogOut),
        ("/user/sign-out.php", Danger::LogOut),
        ("/users/sign_out", Danger::LogOut),
        ("doku.php?id=start&do=logout", Danger::LogOut),
        ("/app?logout=1", Danger::LogOut),
        ("/app?logout", Danger::LogOut),
        ("#/logout", Danger::LogOut),
        ("/api/shutdown", Danger::ShutDown),
        ("/system/reboot", Danger::Restart),
        ("/items/delete-all", Danger::DeleteAll),
        ("/account/delete", Danger::DeleteAccount),
    ];
    for (address, danger) in dangerous {
        assert_eq!(by_link(address), Some(danger), "{address}");
    }
    let harmless = [
        "/",
        "",
        "/login?next=/logout",
        "/wiki?id=logout",
        "/search?q=shutdown",
        "/items/3/delete",
        "/logouts-per-day",
        "/pay",
        "https://logout.example/",
        "javascript:logout()",
        "/account",
        "/blog/how-to-shutdown-a-server",
        "#",
        "?",
        "&&==",
    ];
    for address in harmless {
        assert_eq!(by_link(address), None, "{address}");
    }
    assert_eq!(Brakes::default().danger([], [], ["/orders/7/pay"]), Some(Danger::Pay));
}

#[test]
fn what_a_crawl_is_told_comes_first() {
    let text = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let brakes = Brakes::new(&text(&["Shut down", "/sign-out"]), &text(&["archive", "/admin/"]));
    assert_eq!(brakes.danger(["Shut down now"], [], ["/shutdown"]), None);
    assert_eq!(brakes.danger(["x"], ["/shutdown"], []), None, "its address is the same words");
    assert_eq!(brakes.danger(["Sign out"], ["/sign-out"], []), None);
    assert_eq!(brakes.danger(["Sign out"], ["/logout"], []), Some(Danger::LogOut));
    assert_eq!(brakes.danger(["Archive this"], [], []), Some(Danger::Asked));
    assert_eq!(brakes.danger(["Archived"], [], []), None, "whole words");
    assert_eq!(brakes.danger(["Users"], ["/admin/users"], []), Some(Danger::Asked));
    let both = Brakes::new(&text(&["Log out"]), &text(&["log out"]));
    assert_eq!(both.danger(["Log out"], [], []), Some(Danger::Asked));
    assert_eq!(brakes.danger_of_question("Really shut down?"), None);
    assert_eq!(brakes.danger_of_question("Do you want to log out?"), Some(Danger::LogOut));
}

/// Which offers of a page are left alone, by their position.
#[track_caller]
fn check(text: &str, expected: &[bool]) {
    let page = page(text);
    let judged =
        Brakes::default().judge(&AccessiblePage::of(&page), &page.offers, &BTreeSet::new());
    let found: Vec<bool> = judged.dangers.iter().map(Option::is_some).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn an_offer_is_judged_by_every_name_of_its_element() {
    check("button @click 'Save'\nbutton @click 'Log out'", &[false, true]);
    check("button @click title='Log out'\n  i 'exit_to_app'", &[true]);
    check("a href=/x @click aria-label='Sign out'\n  svg", &[true]);
    check("button @click\n  i class='fa fa-power-off'", &[true]);
    check("button\n  span @click 'Log out'", &[true]);
    check("button @click 'Log out'\n  i @click\n  b @hover", &[true, true, false]);
    check("p 'Log out before you go'\nbutton @click 'Next'", &[false]);
    check("input type=submit .value='Delete all' @click", &[true]);
}

#[test]
fn a_container_is_not_named_by_the_buttons_in_it() {
    let text = "div @click\n  button @click 'Home'\n  button @click 'Log out'";
    check(text, &[false, false, true]);
    let page = page(text);
    let judged =
        Brakes::default().judge(&AccessiblePage::of(&page), &page.offers, &BTreeSet::new());
    assert!(judged.around.contains(&0), "a pointer in its middle may hit the button");
}

#[test]
fn pointing_and_typing_do_no_harm() {
    check("button @hover @focus @click @key=Enter 'Log out'", &[false, false, true, true]);
    check("input @input aria-label='Delete account'", &[false]);
}

#[test]
fn a_form_is_judged_by_its_address_and_its_button() {
    check("form action=/logout @submit\n  input @input", &[true, false]);
    check("form action=/logout\n  button @click 'Go'\n  input @key=Enter", &[true, true]);
    check("form action=/save\n  button @click 'Go'\n  input @key=Enter", &[false, false]);
    check(
        "form\n  input @key=Enter @key=Escape\n  button @click 'Delete account'",
        &[true, false, true],
    );
    check("form id=f action=/shutdown\nbutton form=f @click 'Go'", &[true]);
    check("form action=/save\n  button formaction=/delete-all @click 'Go'", &[true]);
    check("form action=/logout\n  button type=button @click 'Help'", &[false]);
}

#[test]
fn options_and_answers_are_actions_too() {
    let options = "select @choose=0 @choose=1\n  option 'Home'\n  option 'Log out'";
    check(options, &[false, true]);
    let dialog = "div role=dialog\n  p 'Do you want to delete all notes?'\n  button @click 'Yes'\n  button @click 'Cancel'";
    check(dialog, &[true, false]);
    check("dialog\n  p 'Delete this note?'\n  button @click 'Yes'", &[false]);
    check("p 'Do you want to log out?'\nbutton @click 'Yes'", &[false]);
}

#[test]
fn an_offer_for_no_node_is_no_danger() {
    let mut page = page("button @click 'Log out'");
    page.offers[0].node = 99;
    let judged =
        Brakes::default().judge(&AccessiblePage::of(&page), &page.offers, &BTreeSet::new());
    assert_eq!(judged.dangers, [None]);
}
