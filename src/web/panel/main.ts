/** The panel page: pairs the screen when it has no token, then shows the panel until the pairing ends, and starts again. */
import '../fonts.css';
import '../tokens.css';
import './view/frame.css';
import './view/board.css';
import './view/special-cards.css';
import './view/flood.css';
import './view/followers.css';
import './view/overlay.css';
import './view/pairing.css';
import './view/settings.css';
import { createPairingCalls } from '#client/client.ts';
import { fill } from '../dom.ts';
import { createTranslate } from '../language.ts';
import { createScreenStore, pair, type ScreenStore, type StoredPairing } from './pairing.ts';
import { type PanelEnd, showPanel } from './panel-page.ts';
import { lookOf } from './state/look.ts';
import { de } from './texts/de.ts';
import { en, type PanelTexts } from './texts/en.ts';
import { keepAwake } from './unattended.ts';
import { createPairingView } from './view/pairing-view.ts';
import { createStage } from './view/stage.ts';
import { watchIdle } from './view/tools-view.ts';

const languages: { readonly en: PanelTexts; readonly de: PanelTexts } = { en, de };
const server = location.origin;

async function start(): Promise<void> {
  const store = createScreenStore(new URLSearchParams(location.search).get('panel') ?? '');
  keepAwake();
  watchIdle();
  for (let ended: PanelEnd | undefined; ; ) {
    const pairing = store.pairing() ?? (await pairScreen(store, ended));
    ended = await showPanel(pairing, { store, server, languages, root: document.body });
    store.setPairing(undefined);
  }
}

async function pairScreen(store: ScreenStore, ended: PanelEnd | undefined): Promise<StoredPairing> {
  const light = matchMedia('(prefers-color-scheme: light)').matches;
  const facts = { languages: navigator.languages, timeZone: 'UTC', prefersLight: light };
  const look = lookOf(undefined, store.choices(), facts);
  const { language, translate } = createTranslate(languages, look.languages);
  document.documentElement.lang = language;
  document.documentElement.classList.toggle('light', look.scheme === 'light');
  document.title = `${translate('pairTitle')} · Belfry`;
  const stage = createStage(look.scale, () => undefined);
  const view = createPairingView(server, ended && translate(ended), translate);
  fill(document.body, view.root);
  const pairing = await pair(createPairingCalls(server), view.show);
  stage.close();
  store.setPairing(pairing);
  return pairing;
}

void start();
