// The button of a frame switches the frame's light.
document.querySelector('button').addEventListener('click', () => {
  const lit = document.querySelector('output');
  lit.textContent = lit.textContent === 'off' ? 'on' : 'off';
});
