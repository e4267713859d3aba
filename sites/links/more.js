// Each page can be read in short or at length.
document.getElementById('toggle').addEventListener('click', () => {
  const more = document.getElementById('more');
  more.textContent = more.textContent === 'in short' ? 'at length' : 'in short';
});
