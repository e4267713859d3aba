//! The words by which dangerous actions are recognised, in eleven languages. All are in lower case,
//! divided by commas; a star stands for up to three words.

use super::Danger;

/// Names of actions that are dangerous wherever they stand in a short name.
pub(super) const WITHIN: &[(Danger, &str)] = &[
    (Danger::LogOut, LOG_OUT),
    (Danger::ShutDown, SHUT_DOWN),
    (Danger::Restart, RESTART),
    (Danger::DeleteAccount, DELETE_ACCOUNT),
    (Danger::DeleteAll, DELETE_ALL),
    (Danger::Pay, PAY),
];

/// Names that are dangerous only as a whole: in a longer name the same words mean something else.
pub(super) const WHOLE: &[(Danger, &str)] = &[
    (Danger::LogOut, LOG_OUT_ALONE),
    (Danger::ShutDown, SHUT_DOWN_ALONE),
    (Danger::Restart, RESTART_WORDS),
    (Danger::Pay, PAY_ALONE),
];

/// Words that are dangerous beside a word of [`OBJECTS`]: "restart server", not "restart tour".
pub(super) const WITH_OBJECT: &[(Danger, &str)] =
    &[(Danger::ShutDown, STOP_WORDS), (Danger::Restart, RESTART_WORDS)];

const LOG_OUT: &str = "\
    log out, logout, log off, logoff, sign out, signout, log me out, sign me out, end session, \
    end my session, abmelden, ausloggen, sitzung beenden, se déconnecter, me déconnecter, \
    déconnexion, déconnectez vous, fermer la session, cerrar sesión, cerrar la sesión, cerrar mi \
    sesión, desconectarse, disconnetti, disconnettersi, termina sessione, chiudi sessione, \
    terminar sessão, encerrar sessão, encerrar a sessão, fazer logout, sair da conta, uitloggen, \
    afmelden, log uit, wyloguj, wylogować, wylogowanie, zakończ sesję, выйти из системы, выйти \
    из аккаунта, выйти из профиля, выйти из учетной записи, завершить сеанс, разлогиниться, 登出, \
    退出登录, 退出登陆, 退出登錄, 退出系统, 退出账号, 退出帐号, ログアウト, サインアウト, ログオフ";

const LOG_OUT_ALONE: &str = "\
    sign off, déconnecter, salir, esci, sair, выйти, выход, 退出, 注销, 註銷";

const SHUT_DOWN: &str = "\
    shut down, shutdown, power off, poweroff, shut it down, stop server, stop the server, kill \
    server, herunterfahren, server stoppen, server beenden, arrêter le serveur, arrêter le \
    système, éteindre le serveur, éteindre l ordinateur, apagar el servidor, apagar el equipo, \
    apagar el sistema, detener el servidor, arresta il sistema, arresta il server, spegni il \
    server, spegni il sistema, desligar o servidor, desligar o sistema, parar o servidor, server \
    afsluiten, systeem afsluiten, zamknij system, wyłącz serwer, wyłącz system, wyłącz komputer, \
    zatrzymaj serwer, завершение работы, завершить работу, выключить сервер, остановить сервер, \
    关机, 關機, 关闭系统, 关闭服务器, 停止服务器, シャットダウン, 電源を切る, 電源オフ, サーバーを停止";

const SHUT_DOWN_ALONE: &str = "\
    quit, halt, ausschalten, éteindre, apagar, spegni, desligar, uitschakelen, выключить";

const STOP_WORDS: &str = "\
    stop, halt, quit, turn off, switch off, terminate, beenden, ausschalten, stoppen, éteindre, \
    arrêter, apagar, detener, spegni, arresta, ferma, desligar, parar, uitschakelen, afsluiten, \
    uitzetten, wyłącz, zatrzymaj, выключить, остановить";

const RESTART: &str = "\
    重启服务器, 重启系统, 重新启动, 重新啟動, 再起動, restart now, reboot now, factory reset, reset to factory, \
    restore factory, auf werkseinstellungen zurücksetzen, 恢复出厂设置, 出荷時設定に戻す";

const RESTART_WORDS: &str = "\
    restart, reboot, neu starten, neustarten, neustart, redémarrer, redémarrage, reiniciar, \
    riavvia, riavviare, herstarten, herstart, opnieuw opstarten, opnieuw starten, uruchom \
    ponownie, zrestartuj, restartuj, перезагрузить, перезапустить, перезагрузка, 重启, 重啟";

/// What is restarted or stopped, and words that do not change what is.
pub(super) const OBJECTS: &str = "\
    server, system, service, services, computer, application, app, device, host, machine, \
    router, daemon, database, node, cluster, pc, vm, instance, container, now, dienst, dienste, \
    rechner, gerät, anwendung, jetzt, serveur, système, ordinateur, appareil, maintenant, \
    servidor, sistema, servicio, equipo, ordenador, dispositivo, aplicación, ahora, servizio, \
    applicazione, ora, serviço, computador, aplicação, aplicativo, agora, systeem, apparaat, \
    toepassing, nu, serwer, usługę, komputer, urządzenie, aplikację, teraz, сервер, систему, \
    службу, компьютер, устройство, приложение, сейчас";

const DELETE_ALL: &str = "\
    delete all, delete everything, remove all, remove everything, erase all, erase everything, \
    wipe data, wipe all, wipe everything, wipe disk, wipe device, clear all data, clear \
    everything, purge all, destroy all, drop database, drop all, empty trash, empty the trash, \
    empty bin, empty recycle bin, alles löschen, alle * löschen, alles entfernen, alle * \
    entfernen, papierkorb leeren, tout supprimer, supprimer tout, supprimer tous, supprimer \
    toutes, tout effacer, effacer tout, effacer toutes, vider la corbeille, eliminar todo, \
    eliminar todos, eliminar todas, borrar todo, borrar todos, borrar todas, vaciar papelera, \
    vaciar la papelera, elimina tutto, elimina tutti, elimina tutte, cancella tutto, cancella \
    tutti, cancella tutte, svuota cestino, svuota il cestino, excluir tudo, excluir todos, \
    excluir todas, apagar tudo, apagar todos, apagar todas, eliminar tudo, remover tudo, \
    esvaziar lixeira, esvaziar a lixeira, esvaziar a reciclagem, alles verwijderen, alle * \
    verwijderen, alles wissen, alle * wissen, prullenbak legen, usuń wszystko, usuń wszystkie, \
    skasuj wszystko, wyczyść wszystko, opróżnij kosz, удалить все, удалить всех, стереть все, \
    очистить корзину, 全部删除, 全部刪除, 删除全部, 刪除全部, 删除所有, 刪除所有, 清空回收站, 清空所有, 清空数据, すべて削除, 全て削除, 全部削除, \
    全削除, すべて消去, ごみ箱を空にする";

const DELETE_ACCOUNT: &str = "\
    delete account, delete my account, delete your account, delete this account, delete the \
    account, remove account, remove my account, close account, close my account, close your \
    account, deactivate account, deactivate my account, terminate account, konto löschen, \
    account löschen, konto * löschen, konto auflösen, konto schließen, supprimer le compte, \
    supprimer mon compte, supprimer votre compte, supprimer ce compte, fermer mon compte, \
    eliminar cuenta, eliminar la cuenta, eliminar mi cuenta, borrar cuenta, borrar mi cuenta, \
    elimina account, elimina l account, elimina il mio account, cancella account, chiudi \
    account, excluir conta, excluir a conta, excluir minha conta, eliminar conta, eliminar a \
    conta, apagar conta, apagar a conta, account verwijderen, account * verwijderen, account \
    opheffen, usuń konto, usuń moje konto, skasuj konto, удалить аккаунт, удалить учетную \
    запись, удалить профиль, 删除账户, 删除账号, 删除帐户, 删除帐号, 刪除帳號, 刪除帳戶, 注销账户, 注销账号, 注销帐号, アカウントを削除, \
    アカウント削除, アカウントの削除, 退会する, 退会";

const PAY: &str = "\
    pay now, pay with, pay by, confirm payment, submit payment, make payment, confirm and pay, \
    proceed to pay, pay invoice, pay bill, buy now, place order, place your order, place my \
    order, complete purchase, complete order, confirm purchase, confirm order, jetzt bezahlen, \
    jetzt kaufen, jetzt zahlen, zahlungspflichtig, kostenpflichtig, zahlung bestätigen, kauf \
    abschließen, payer maintenant, acheter maintenant, passer la commande, passer commande, \
    confirmer le paiement, valider le paiement, valider la commande, pagar ahora, comprar ahora, \
    realizar pedido, realizar el pedido, confirmar pago, confirmar el pago, finalizar compra, \
    paga ora, acquista ora, conferma pagamento, conferma l ordine, conferma ordine, pagar agora, \
    comprar agora, confirmar pagamento, fechar pedido, finalizar pedido, nu betalen, nu kopen, \
    bestelling plaatsen, betaling bevestigen, zapłać, kup teraz, kupuję i płacę, potwierdź \
    płatność, złóż zamówienie, оплатить, купить сейчас, оформить заказ, подтвердить заказ, 立即支付, \
    立即付款, 确认支付, 確認付款, 确认付款, 立即购买, 提交订单, 支払う, 支払いを確定, 今すぐ購入, 購入する, 注文を確定, 注文する";

const PAY_ALONE: &str = "\
    pay, purchase, bezahlen, kaufen, payer, acheter, commander, pagar, comprar, paga, acquista, \
    betalen, kopen, купить, 付款, 支付, 購入";

/// Words that make a name speak of the action instead of being it.
pub(super) const ABOUT: &str = "\
    how, why, when, about, help, tour, tutorial, guide, settings, history, schedule, policy, \
    hilfe, einstellungen, aide, paramètres, ayuda, aiuto, ajuda, pomoc, справка";

/// Parts of addresses that are dangerous: a segment of the path, a key or a value of the query.
/// Hyphens, underscores and the ending of a file do not count.
pub(super) const ADDRESSES: &[(Danger, &str)] = &[
    (
        Danger::LogOut,
        "\
    logout, logoff, signout, signoff, dologout, userlogout, endsession, \
    logoutuser, deconnexion, abmelden",
    ),
    (
        Danger::ShutDown,
        "\
    shutdown, poweroff, quitquitquit, stopserver, doshutdown",
    ),
    (
        Danger::Restart,
        "\
    restart, reboot, restartserver, rebootnow, factoryreset, doreboot",
    ),
    (
        Danger::DeleteAll,
        "\
    deleteall, removeall, destroyall, purgeall, wipe, emptytrash, \
    deleteeverything, clearall",
    ),
    (
        Danger::DeleteAccount,
        "\
    deleteaccount, accountdelete, closeaccount, removeaccount, deactivateaccount",
    ),
];

/// The same, where a form sends data there.
pub(super) const FORM_ADDRESSES: &[(Danger, &str)] = &[(
    Danger::Pay,
    "\
    pay, payment, purchase, placeorder, buy, buynow",
)];

/// Keys of a query whose values are content and no command.
pub(super) const CONTENT_KEYS: &str = "\
    id, q, query, search, s, title, name, tag, text, term, next, redirect, return, returnto, \
    returnurl, url, ref, from, continue";

/// Names of the button that confirms a question.
pub(super) const CONFIRMING: &str = "\
    yes, ok, okay, confirm, continue, proceed, delete, remove, i understand, submit, ja, \
    bestätigen, weiter, löschen, entfernen, fortfahren, oui, confirmer, supprimer, continuer, \
    valider, sí, si, aceptar, confirmar, eliminar, borrar, continuar, sì, conferma, elimina, \
    continua, sim, excluir, apagar, bevestigen, verwijderen, doorgaan, tak, potwierdź, usuń, \
    kontynuuj, да, подтвердить, удалить, продолжить, ок, 确定, 确认, 確定, 確認, 是, 删除, 刪除, はい, 削除, 続行";
