/** The dashboard's entry. */
import '../fonts.css';
import './theme/mantine.css';
import '../tokens.css';
import './theme/base.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/query-client.ts';
import { keepFocusOfBusyButtons } from './components/keyboard.ts';
import { ToastCorner } from './components/notice.tsx';
import { startLanguage } from './language.ts';
import { createDashboardRouter } from './router.tsx';
import { mantineTheme, useScheme } from './theme/theme.ts';

const queryClient = createQueryClient();
const router = createDashboardRouter(queryClient);

function Dashboard() {
  return (
    <MantineProvider
      theme={mantineTheme}
      forceColorScheme={useScheme()}
      // The content security policy forbids style sheets from scripts. Ours are in theme/.
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={queryClient}>
        <ToastCorner />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
keepFocusOfBusyButtons();
void startLanguage().then(() =>
  createRoot(root).render(
    <StrictMode>
      <Dashboard />
    </StrictMode>,
  ),
);
