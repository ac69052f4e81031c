/** The devices of this browser, stored where its service worker can read them too. */

export interface StoredDevice {
  readonly secret: string;
  /** The server's key that the subscription is for. */
  readonly publicKey: string;
}

const cacheName = 'belfry-push';
const path = '/push/devices';

export async function storedDevices(): Promise<readonly StoredDevice[]> {
  const found = await (await caches.open(cacheName)).match(path);
  return found ? ((await found.json()) as StoredDevice[]) : [];
}

export async function storeDevices(devices: readonly StoredDevice[]): Promise<void> {
  const body = JSON.stringify(devices.map(({ secret, publicKey }) => ({ secret, publicKey })));
  await (await caches.open(cacheName)).put(path, new Response(body));
}
