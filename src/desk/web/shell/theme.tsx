import { createStore } from '../live/store.js';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'almoner-theme';

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
    return 'system';
  }
}

export const theme = createStore<Theme>(stored());

export function applyTheme(): void {
  const chosen = theme.get();
  if (chosen === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', chosen);
}

export function chooseTheme(chosen: Theme): void {
  theme.set(chosen);
  applyTheme();
  try {
    if (chosen === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, chosen);
  } catch {
    // See above.
  }
}
