// Asked for when the button is pressed; the server takes its time.
document.getElementById('extra').textContent = 'The extra is here.';
document.getElementById('plug').textContent = 'unload extra';
document.getElementById('plug').disabled = false;
