// What the page shows. Nothing here knows of calls.

export const $ = (id) => document.getElementById(id);

export function badge(id, text, tone = '') {
  $(id).textContent = text;
  $(id).className = `badge ${tone}`;
}

export function notice(text) {
  $('notice').textContent = text;
  $('notice').hidden = !text;
}

export function note(text) {
  const line = document.createElement('li');
  const time = document.createElement('time');
  time.textContent = new Date().toLocaleTimeString();
  line.append(time, text);
  $('log').prepend(line);
  while ($('log').children.length > 200) {
    $('log').lastChild.remove();
  }
}

export function toggle(id, on) {
  $(id).setAttribute('aria-pressed', String(on));
}

export function showStats(stats) {
  $('fabric').textContent = `fabric ${stats.fabricState}, back-end ${stats.connectionState}`;
  $('stats').replaceChildren(...(stats.mediaStreamTracks ?? []).map(row));
  if (stats.conferenceURL) {
    $('dashboard').href = stats.conferenceURL;
    $('dashboard').hidden = false;
  }
}

function row(track) {
  const line = document.createElement('tr');
  line.append(
    cell(`${track.mediaType} ${track.statsType}`),
    cell(track.remoteUserID ?? ''),
    cell(number(track.bitrate)),
    cell(number(track.packetLossPercentage, 1)),
    cell(number(track.jitter, 1)),
    cell(number(track.rtt)),
    cell(track.quality ?? '–', track.quality ?? ''),
  );
  return line;
}

function cell(text, name = '') {
  const td = document.createElement('td');
  td.textContent = typeof text === 'object' ? text.aliasName : text;
  td.className = name;
  return td;
}

function number(value, digits = 0) {
  return typeof value === 'number' ? value.toFixed(digits) : '–';
}
