"""Drives a headless Chromium through its DevTools protocol: messages of JSON separated by NUL bytes over file
descriptors 3 and 4 (--remote-debugging-pipe), so nothing but the standard library is needed.

Everything a page complains about is collected in Page.problems: exceptions, errors and warnings on the console,
dialogs, and requests for anything but local files.
"""
import base64, collections, fcntl, json, os, select, shutil, subprocess, tempfile, time
import urllib.parse

# Names Chromium goes by; CHROMIUM in the environment names another one.
CANDIDATES = ('chromium', 'chromium-browser', 'google-chrome')
FLAGS = ('--headless=new', '--remote-debugging-pipe', '--no-first-run', '--no-default-browser-check',
         '--disable-extensions', '--disable-background-networking', '--disable-component-update',
         '--disable-default-apps', '--disable-sync', '--disable-gpu', '--disable-dev-shm-usage', '--mute-audio',
         '--force-color-profile=srgb', '--font-render-hinting=none', '--hide-scrollbars',
         '--password-store=basic', '--use-mock-keychain', '--no-pings', '--disable-breakpad')
KEYS = {  # name: (code, windows key code, text)
    'Enter': ('Enter', 13, '\r'), 'Tab': ('Tab', 9, ''), 'Escape': ('Escape', 27, ''), ' ': ('Space', 32, ' '),
    'Backspace': ('Backspace', 8, ''), 'Delete': ('Delete', 46, ''), 'Home': ('Home', 36, ''),
    'End': ('End', 35, ''), 'PageUp': ('PageUp', 33, ''), 'PageDown': ('PageDown', 34, ''),
    'ArrowLeft': ('ArrowLeft', 37, ''), 'ArrowUp': ('ArrowUp', 38, ''), 'ArrowRight': ('ArrowRight', 39, ''),
    'ArrowDown': ('ArrowDown', 40, ''), '+': ('Equal', 187, '+'), '-': ('Minus', 189, '-'),
    '/': ('Slash', 191, '/'), '?': ('Slash', 191, '?')}
MODIFIERS = {'Alt': 1, 'Control': 2, 'Meta': 4, 'Shift': 8}


def find_chromium():
    """The path of the browser, or None."""
    named = os.environ.get('CHROMIUM')
    return shutil.which(named) if named else next(filter(None, map(shutil.which, CANDIDATES)), None)


class BrowserError(Exception):
    """The browser refused a command, did not answer in time or is gone."""


class Browser:
    """One process of the browser with a profile of its own. Use as a context manager."""

    def __init__(self, size=(1280, 800)):
        self.program = find_chromium()
        if not self.program:
            raise BrowserError('no Chromium found')
        self.profile = tempfile.mkdtemp(prefix='hlo-browser-')
        self.size, self.number, self.buffer = size, 0, b''
        self.answers, self.pages = {}, {}
        self._start()

    def _start(self):
        # The child's ends are moved out of the way of 3 and 4 before they are put there.
        child_in, self.write_fd = os.pipe()
        self.read_fd, child_out = os.pipe()
        high_in, high_out = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (child_in, child_out))

        def put_pipes():
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        sandbox = ['--no-sandbox'] if os.geteuid() == 0 else []
        command = [self.program, *FLAGS, *sandbox, '--user-data-dir=' + self.profile,
                   '--window-size=%d,%d' % self.size, 'about:blank']
        self.log = open(os.path.join(self.profile, 'log'), 'wb')
        environment = dict(os.environ, HOME=self.profile, XDG_CACHE_HOME=self.profile, LC_ALL='C.UTF-8')
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env=environment, preexec_fn=put_pipes, close_fds=False,
                                        start_new_session=True)
        for fd in (child_in, child_out, high_in, high_out):
            os.close(fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.call('Browser.close', timeout=5)
        except (BrowserError, OSError):
            pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        for fd in (self.read_fd, self.write_fd):
            os.close(fd)
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _pump(self, timeout):
        """Takes in what the browser has to say; waits for at most so many seconds."""
        if not select.select([self.read_fd], [], [], max(timeout, 0))[0]:
            return
        data = os.read(self.read_fd, 1 << 20)
        if not data:
            with open(self.log.name, errors='replace') as log:
                raise BrowserError('the browser has ended:\n' + log.read()[-2000:])
        *messages, self.buffer = (self.buffer + data).split(b'\0')
        for text in messages:
            message = json.loads(text)
            if 'id' in message:
                self.answers[message['id']] = message
            elif message.get('sessionId') in self.pages:
                self.pages[message['sessionId']].on_event(message['method'], message['params'])

    def call(self, method, session=None, timeout=60, **parameters):
        """Sends a command and returns its result."""
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if session:
            message['sessionId'] = session
        data = json.dumps(message).encode() + b'\0'
        while data:
            data = data[os.write(self.write_fd, data):]
        number, end = self.number, time.monotonic() + timeout
        while number not in self.answers:
            if time.monotonic() > end:
                raise BrowserError(f'{method}: no answer in {timeout} s')
            self._pump(end - time.monotonic())
        answer = self.answers.pop(number)
        if 'error' in answer:
            raise BrowserError(f"{method}: {answer['error'].get('message')}")
        return answer['result']

    def wait(self, condition, timeout, what):
        """Until condition() holds."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise BrowserError(f'{what}: not within {timeout} s')
            self._pump(0.02)

    def open(self, path, fragment='', **options):
        """A new page showing a local file, loaded."""
        url = 'file://' + urllib.parse.quote(os.path.abspath(path))
        return Page(self, url + ('#' + fragment if fragment else ''), **options)


class Page:
    """One tab. Coordinates are CSS pixels from the upper left corner of the page's viewport."""

    def __init__(self, browser, url, dark=False, size=None, touch=False, load_timeout=60):
        self.browser, self.problems, self.loaded = browser, [], False
        self.requests = collections.Counter()
        self.target = browser.call('Target.createTarget', url='about:blank')['targetId']
        self.session = browser.call('Target.attachToTarget', targetId=self.target, flatten=True)['sessionId']
        browser.pages[self.session] = self
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')
        width, height = size or browser.size
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        self.call('Emulation.setFocusEmulationEnabled', enabled=True)
        self.call('Emulation.setTouchEmulationEnabled', enabled=touch)
        self.set_dark(dark)
        self.navigate(url, load_timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.browser.call('Target.closeTarget', targetId=self.target)
        self.browser.pages.pop(self.session, None)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def on_event(self, method, event):
        if method == 'Runtime.exceptionThrown':
            details = event['exceptionDetails']
            self.problems.append('exception: ' + details.get('exception', {}).get('description', details['text']))
        elif method == 'Runtime.consoleAPICalled' and event['type'] in ('error', 'warning', 'assert'):
            texts = [str(a.get('value', a.get('description'))) for a in event['args']]
            self.problems.append(f"console {event['type']}: " + ' '.join(texts))
        elif method == 'Log.entryAdded' and event['entry']['level'] in ('error', 'warning'):
            self.problems.append('log: ' + event['entry']['text'])
        elif method == 'Network.requestWillBeSent':
            url = event['request']['url']
            self.requests[url] += 1
            if not url.startswith(('file:', 'data:', 'blob:', 'about:')):
                self.problems.append('request: ' + url[:200])
        elif method == 'Page.javascriptDialogOpening':
            self.problems.append('dialog: ' + event['message'])
            # The answer is not waited for: this runs while another command is waited for.
            self.browser.number += 1
            os.write(self.browser.write_fd, json.dumps(
                {'id': self.browser.number, 'sessionId': self.session,
                 'method': 'Page.handleJavaScriptDialog', 'params': {'accept': False}}).encode() + b'\0')
        elif method == 'Page.loadEventFired':
            self.loaded = True

    def navigate(self, url, timeout=60):
        self.loaded = False
        answer = self.browser.call('Page.navigate', self.session, timeout, url=url)
        if answer.get('errorText'):
            raise BrowserError(f"{url}: {answer['errorText']}")
        if answer.get('loaderId'):  # else only the fragment is another
            self.browser.wait(lambda: self.loaded, timeout, 'loading ' + url)

    def evaluate(self, expression, timeout=60):
        """The value of a JavaScript expression; promises are waited for."""
        result = self.browser.call('Runtime.evaluate', self.session, timeout, expression=expression,
                                   returnByValue=True, awaitPromise=True, userGesture=True)
        if 'exceptionDetails' in result:
            details = result['exceptionDetails']
            text = details.get('exception', {}).get('description', details['text'])
            raise BrowserError(f'{expression[:200]}: {text}')
        return result['result'].get('value')

    def wait_for(self, expression, timeout=30):
        """Until a JavaScript expression is true; returns its value."""
        end = time.monotonic() + timeout
        while not (value := self.evaluate(expression)):
            if time.monotonic() > end:
                raise BrowserError(f'not within {timeout} s: {expression}')
            time.sleep(0.02)
        return value

    def settle(self):
        """Until two more frames are drawn."""
        self.evaluate('new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => f(1))))')

    def set_dark(self, dark):
        self.call('Emulation.setEmulatedMedia',
                  features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    # Input.

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type='mouse' + kind, x=x, y=y, **more)

    def click(self, x, y, count=1, button='left', modifiers=()):
        bits = sum(MODIFIERS[m] for m in modifiers)
        self.mouse('Moved', x, y, modifiers=bits)
        for n in range(1, count + 1):
            for kind in ('Pressed', 'Released'):
                self.mouse(kind, x, y, button=button, clickCount=n, modifiers=bits)

    def drag(self, x, y, to_x, to_y, steps=8):
        self.mouse('Moved', x, y)
        self.mouse('Pressed', x, y, button='left', clickCount=1)
        for i in range(1, steps + 1):
            self.mouse('Moved', x + (to_x - x) * i / steps, y + (to_y - y) * i / steps, button='left', buttons=1)
        self.mouse('Released', to_x, to_y, button='left', clickCount=1)

    def wheel(self, x, y, delta_y, delta_x=0, modifiers=()):
        self.mouse('Wheel', x, y, deltaX=delta_x, deltaY=delta_y, modifiers=sum(MODIFIERS[m] for m in modifiers))

    def touch(self, kind, *points):
        """`kind`: Start, Move or End; `points`: pairs of coordinates of the fingers that touch."""
        self.call('Input.dispatchTouchEvent', type='touch' + kind,
                  touchPoints=[{'x': x, 'y': y, 'id': i} for i, (x, y) in enumerate(points)])

    def key(self, key, *modifiers):
        bits = sum(MODIFIERS[m] for m in modifiers)
        code, number, text = KEYS.get(key) or ('Key' + key.upper(), ord(key.upper()), key)
        plain = text and not bits & ~MODIFIERS['Shift']
        event = dict(key=key, code=code, windowsVirtualKeyCode=number, modifiers=bits)
        self.call('Input.dispatchKeyEvent', type='keyDown' if plain else 'rawKeyDown', **event,
                  **({'text': text} if plain else {}))
        self.call('Input.dispatchKeyEvent', type='keyUp', **event)

    def type(self, text):
        self.call('Input.insertText', text=text)

    def centre(self, selector):
        """The middle of the first element that matches, scrolled into view."""
        box = self.evaluate('(() => { const e = document.querySelector(%s); if (!e) return null;'
                            ' e.scrollIntoView({block: "nearest"}); const r = e.getBoundingClientRect();'
                            ' return [r.x + r.width / 2, r.y + r.height / 2, r.width, r.height]; })()'
                            % json.dumps(selector))
        if not box or not box[2] or not box[3]:
            raise BrowserError(f'{selector}: {"not visible" if box else "not there"}')
        return box[0], box[1]

    def click_on(self, selector, **options):
        self.click(*self.centre(selector), **options)

    # What a user sees.

    def screenshot(self, path=None, scale=1, clip=None):
        """PNG bytes of the viewport, or of the rectangle `clip` (x, y, width, height)."""
        x, y, width, height = clip or (0, 0, *self.evaluate('[innerWidth, innerHeight]'))
        data = self.call('Page.captureScreenshot', format='png',
                         clip={'x': x, 'y': y, 'width': width, 'height': height, 'scale': scale})['data']
        png = base64.b64decode(data)
        if path:
            with open(path, 'wb') as f:
                f.write(png)
        return png

    def accessible(self):
        """The accessibility tree as dictionaries role, name, focusable."""
        self.call('Accessibility.enable')
        nodes = self.call('Accessibility.getFullAXTree')['nodes']
        self.call('Accessibility.disable')
        return [{'role': n.get('role', {}).get('value', ''), 'name': n.get('name', {}).get('value', ''),
                 'focusable': any(p['name'] == 'focusable' and p['value'].get('value')
                                  for p in n.get('properties', []))}
                for n in nodes if not n.get('ignored')]

    def frame_times(self, action, frames=60):
        """Milliseconds between frames while the JavaScript function `action(i)` is called before each."""
        return self.evaluate(f'''new Promise(done => {{
            const action = {action}, times = [];
            let last = performance.now(), i = 0;
            const step = () => {{
              const now = performance.now();
              if (i) times.push(now - last);
              last = now;
              if (i++ >= {frames}) return done(times);
              action(i);
              requestAnimationFrame(step);
            }};
            requestAnimationFrame(step);
          }})''')
