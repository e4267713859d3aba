// A mail application with two messages and two folders. The screen shows all of its memory, so
// every state can be recognised by its looks.
const messages = [
  {
    from: 'Ada', subject: 'A web in the garden', folder: 'Inbox', sent: 'Monday, 9:12',
    text: 'There is a new web between the roses this morning, still wet. Come and see it before the wind does.',
  },
  {
    from: 'Ben', subject: 'Tea on Friday?', folder: 'Inbox', sent: 'Tuesday, 16:40',
    text: 'I have found the tin with the good leaves. Friday at four, if the rain holds off?',
  },
];
let folder = 'Inbox', open = null, tab = 'Message', menu = false;

const at = (id) => document.getElementById(id);
const inside = (name) => messages.filter((message) => message.folder === name);

// An element with its properties, its children and, if it can be pressed, what that does.
function element(tag, properties, children = [], action = null) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  if (action) made.addEventListener('click', () => { action(); show(); });
  return made;
}

function go(name) {
  [folder, open, menu] = [name, null, false];
}

function folders() {
  return ['Inbox', 'Archive'].map((name) => {
    const count = element('span', { className: 'count', textContent: inside(name).length });
    const button = element('button', {}, [name, ' ', count], () => go(name));
    button.setAttribute('aria-current', String(name === folder));
    return button;
  });
}

function list() {
  const rows = inside(folder).map((message) => element('button', { className: 'row' }, [
    element('b', { textContent: message.from }), ' ',
    element('span', { textContent: message.subject }), ' ',
    element('small', { textContent: message.sent }),
  ], () => { [open, tab] = [message, 'Message']; }));
  const empty = element('p', { className: 'empty', textContent: 'Nothing here.' });
  const more = element('button', { className: 'icon', ariaLabel: 'Menu', textContent: '⋯' }, [], () => { menu = true; });
  return [
    element('header', {}, [element('h1', { textContent: folder }), more]),
    element('section', { className: 'rows' }, rows.length ? rows : [empty]),
    ...(menu ? dropdown() : []),
  ];
}

// The backdrop takes every click beside the menu, and closes it.
function dropdown() {
  const other = folder === 'Inbox' ? 'Archive' : 'Inbox';
  const moveAll = element('button', { role: 'menuitem', textContent: `Move all to ${other}` }, [], () => {
    for (const message of inside(folder)) message.folder = other;
    menu = false;
  });
  moveAll.disabled = inside(folder).length === 0;
  const about = element('button', { role: 'menuitem', textContent: 'About' }, [], () => {
    menu = false;
    at('about').showModal();
  });
  return [
    element('div', { className: 'backdrop' }, [], () => { menu = false; }),
    element('div', { className: 'menu', role: 'menu' }, [moveAll, about]),
  ];
}

function reader() {
  const other = open.folder === 'Inbox' ? 'Archive' : 'Inbox';
  const tabs = ['Message', 'Details'].map((name) => {
    const button = element('button', { role: 'tab', textContent: name }, [], () => { tab = name; });
    button.setAttribute('aria-selected', String(name === tab));
    return button;
  });
  const details = [['From', `${open.from.toLowerCase()}@example.com`], ['Sent', open.sent], ['Folder', open.folder]];
  const shown = tab === 'Message'
    ? element('p', { className: 'text', textContent: open.text })
    : element('dl', {}, details.flatMap(([name, value]) =>
      [element('dt', { textContent: name }), element('dd', { textContent: value })]));
  const move = () => {
    const from = open.folder;
    open.folder = other;
    go(from);
  };
  return [
    element('header', {}, [element('h1', { textContent: open.subject })]),
    element('div', { className: 'tabs' }, tabs),
    shown,
    element('p', { className: 'buttons' }, [
      element('button', { textContent: `Back to ${open.folder}` }, [], () => go(open.folder)),
      element('button', { textContent: `Move to ${other}` }, [], move),
    ]),
  ];
}

function show() {
  at('folders').replaceChildren(...folders());
  at('main').replaceChildren(...(open ? reader() : list()));
}

at('write').addEventListener('click', () => {
  go('Inbox');
  show();
  at('to').value = at('subject').value = '';
  at('send').disabled = true;
  at('compose').returnValue = '';
  at('compose').showModal();
});
at('compose').addEventListener('input', () => {
  at('send').disabled = !(at('to').value && at('subject').value);
});
at('compose').addEventListener('close', () => {
  if (at('compose').returnValue !== 'send') return;
  at('toast').textContent = `Sent to ${at('to').value}`;
  setTimeout(() => { at('toast').textContent = ''; }, 2500);
});
show();
